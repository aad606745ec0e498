package diagnosis

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A pod that is refused has no status: its StatefulSet says in events what the API server answered.
func TestOfMissing(t *testing.T) {
	const create = "create Pod web-0-1 in StatefulSet web-0 failed error: "
	event := func(second int64, reason, message string) corev1.Event {
		return corev1.Event{LastTimestamp: metav1.NewTime(time.Unix(second, 0)), Reason: reason, Message: message}
	}
	const quota = create + `pods "web-0-1" is forbidden: exceeded quota: small, requested: limits.memory=1Gi, used: limits.memory=3Gi, limited: limits.memory=4Gi`
	made := "create Pod web-0-1 in StatefulSet web-0 successful"
	const begin = "Kubernetes does not create pod web-0-1 (FailedCreate): "
	const end = ". Change what refuses it in namespace shop, or what the spec asks for."
	for what, c := range map[string]struct {
		events []corev1.Event
		want   string
	}{
		"nothing was said": {},
		"a quota, without what others use": {
			[]corev1.Event{event(1, "FailedCreate", quota)}, begin + "exceeded quota: small, requested: limits.memory=1Gi, limited: limits.memory=4Gi" + end,
		},
		"combined by the recorder": {
			[]corev1.Event{event(1, "FailedCreate", "(combined from similar events): "+quota)}, begin + "exceeded quota: small, requested: limits.memory=1Gi, limited: limits.memory=4Gi" + end,
		},
		"a webhook": {
			[]corev1.Event{event(1, "FailedCreate", create+`admission webhook "pods.example.com" denied the request: no`)},
			begin + `admission webhook "pods.example.com" denied the request: no` + end,
		},
		"a claim of it": {
			[]corev1.Event{event(1, "FailedCreate", `create Claim data-web-0-1 for Pod web-0-1 in StatefulSet web-0 failed error: persistentvolumeclaims "data-web-0-1" is forbidden: exceeded quota: disks, requested: a=1, used: a=2, limited: a=2`)},
			begin + "exceeded quota: disks, requested: a=1, limited: a=2" + end,
		},
		"it was made since":         {[]corev1.Event{event(2, "SuccessfulCreate", made), event(1, "FailedCreate", quota)}, ""},
		"it was made, then refused": {[]corev1.Event{event(1, "SuccessfulCreate", made), event(2, "FailedCreate", create+"no")}, begin + "no" + end},
		"it was refused long ago":   {[]corev1.Event{event(-1, "FailedCreate", quota)}, ""},
		"another pod":               {[]corev1.Event{event(1, "FailedCreate", "create Pod web-0-10 in StatefulSet web-0 failed error: no")}, ""},
	} {
		if got := OfMissing("shop", "web-0-1", c.events, time.Unix(1200, 0)); got.Words != c.want || got.Is() != (c.want != "") {
			t.Errorf("%s: %q, want %q", what, got.Words, c.want)
		}
	}
}
