package observe

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// onePod is a reader that knows of one pod.
type onePod corev1.Pod

func (*onePod) Get(context.Context, read.Key, client.Object, ...client.GetOption) error { return nil }

func (p *onePod) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	list.(*corev1.PodList).Items = []corev1.Pod{corev1.Pod(*p)}
	return nil
}

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
			pod := onePod{ObjectMeta: c.pod}
			pod.Name = "web-3-1"
			if pod.Labels == nil {
				pod.Labels = map[string]string{valkeyv1.ShardLabel: "3"}
			}
			o := Cluster{Cached: &pod}
			if got, err := o.remains(t.Context(), &valkeyv1.ValkeyCluster{}, 3); err != nil || got != c.want {
				t.Errorf("%q, %v, not %q", got, err, c.want)
			}
		})
	}
}
