package observe

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
)

// Who stands in the way of a StatefulSet: pods that go, and those of one that is gone. Pods without an owner are adopted.
func TestRemains(t *testing.T) {
	owner := []metav1.OwnerReference{{Kind: "StatefulSet", Name: "web-3", UID: "gone", Controller: ptr.To(true)}}
	for name, c := range map[string]struct {
		pod  metav1.ObjectMeta
		want string
	}{
		"it is being deleted":            {metav1.ObjectMeta{DeletionTimestamp: ptr.To(metav1.Now())}, "web-3-1"},
		"its owner is gone":              {metav1.ObjectMeta{OwnerReferences: owner}, "web-3-1"},
		"it was left behind on purpose":  {metav1.ObjectMeta{}, ""},
		"it belongs to another shard":    {metav1.ObjectMeta{OwnerReferences: owner, Labels: map[string]string{valkeyv1.ShardLabel: "4"}}, ""},
		"it is being deleted, elsewhere": {metav1.ObjectMeta{DeletionTimestamp: ptr.To(metav1.Now()), Labels: map[string]string{valkeyv1.ShardLabel: "4"}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			pod := corev1.Pod{ObjectMeta: c.pod}
			pod.Name = "web-3-1"
			if pod.Labels == nil {
				pod.Labels = map[string]string{valkeyv1.ShardLabel: "3"}
			}
			if got := remains([]corev1.Pod{pod}, 3); got != c.want {
				t.Errorf("%q, not %q", got, c.want)
			}
		})
	}
}
