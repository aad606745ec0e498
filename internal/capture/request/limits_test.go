package request

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

func TestLimits(t *testing.T) {
	day, week := &metav1.Duration{Duration: 24 * time.Hour}, &metav1.Duration{Duration: 168 * time.Hour}
	for what, c := range map[string]struct {
		limits Limits
		retain *metav1.Duration
		want   fsm.Reason
	}{
		"no limits":                     {Limits{Kept: 1000}, week, ""},
		"as long as is allowed":         {Limits{Retention: day.Duration}, day, ""},
		"longer than is allowed":        {Limits{Retention: day.Duration}, week, capturev1.ReasonRetentionTooLong},
		"no retention":                  {Limits{Retention: day.Duration}, nil, ""},
		"the last one that is allowed":  {Limits{Captures: 3, Kept: 2}, nil, ""},
		"one more than is allowed":      {Limits{Captures: 3, Kept: 3}, nil, capturev1.ReasonOverBudget},
		"too many, by lower limits now": {Limits{Captures: 3, Kept: 30}, nil, capturev1.ReasonOverBudget},
	} {
		why, message, given := c.limits.Refusal("shop", c.retain)
		if why != c.want || given != (c.want != "") || given != (message != "") {
			t.Errorf("%s: %s, %q", what, why, message)
		}
	}
}

// TestAKeeperOutlivesAnAccident: by the floor, or by what the request asks for, whichever is longer.
func TestAKeeperOutlivesAnAccident(t *testing.T) {
	hour, day := time.Hour, 24*time.Hour
	for what, c := range map[string]struct {
		terms Terms
		want  time.Duration
	}{
		"nothing is said":                {Terms{}, 0},
		"the operator's floor":           {Terms{Floor: hour}, hour},
		"the request asks for more":      {Terms{Floor: hour, Retain: &metav1.Duration{Duration: day}}, day},
		"the request asks for less":      {Terms{Floor: hour, Retain: &metav1.Duration{Duration: time.Second}}, hour},
		"the request asks, and no floor": {Terms{Retain: &metav1.Duration{Duration: day}}, day},
	} {
		k := NewKeeper(&metav1.ObjectMeta{Namespace: "shop", Name: "a", UID: "r1"}, capturev1.GroupVersion.WithKind("VolumeCaptureRequest"), "n1", c.terms)
		mode, ttl := capturev1.FollowObject, time.Duration(0)
		if c.want > 0 {
			mode = capturev1.FollowObjectWithTTL
		}
		if k.Spec.TTL != nil {
			ttl = k.Spec.TTL.Duration
		}
		if k.Spec.Mode != mode || ttl != c.want {
			t.Errorf("%s: %s for %s", what, k.Spec.Mode, ttl)
		}
	}
}
