package observe

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// asked is the answer to one question.
type asked struct{ read.Sample[Answers] }

func (a asked) Last(read.Key) read.Sample[Answers] { return a.Sample }

func (a asked) Fresh(context.Context, read.Key, time.Duration) read.Sample[Answers] { return a.Sample }

// TestWhatWasSaidBeforeIsNotWhatIsSaid: who cannot be asked, or does not answer although it is
// ready, is not known to serve.
func TestWhatWasSaidBeforeIsNotWhatIsSaid(t *testing.T) {
	before := Answers{Servers: map[string]*topology.Server{"10.0.0.1:6379": {ID: "a"}}}
	ready := runningPod("web-0-0", "10.0.0.1", "web-0")
	ready.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	starting := runningPod("web-0-0", "10.0.0.1", "web-0")
	for what, c := range map[string]struct {
		pod    corev1.Pod
		sample read.Sample[Answers]
		knows  int
		err    string
	}{
		"all answer":                         {ready, read.Sample[Answers]{Value: before}, 1, ""},
		"ready, and cannot be asked":         {ready, read.Sample[Answers]{Value: before, Err: errors.New("no password")}, 0, "no password"},
		"ready, and does not answer":         {ready, read.Sample[Answers]{}, 0, "none of them answers"},
		"starts, and cannot be asked":        {starting, read.Sample[Answers]{Value: before, Err: errors.New("no password")}, 0, ""},
		"starts, and does not answer so far": {starting, read.Sample[Answers]{}, 0, ""},
	} {
		o := Cluster{Servers: asked{c.sample}, Work: idle{}}
		got, err := o.answers(t.Context(), &valkeyv1.ValkeyCluster{}, []corev1.Pod{c.pod})
		if len(got.Servers) != c.knows || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %v, %v", what, got, err)
		}
	}
}
