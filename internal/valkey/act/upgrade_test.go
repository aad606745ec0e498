package act

import (
	"context"
	"errors"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/valkey/plan"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
	"github.com/statecraft-dev/statecraft/internal/valkey/upgrade"
)

// An upgrade refuses what cannot be undone without its proof, or with that of something else.
func TestAnUpgradeDestroysNothingWithoutProof(t *testing.T) {
	for name, effect := range map[string]fsm.Effect{
		"delete a pod":                    upgrade.DeletePod{Name: "web-0-1", UID: "a"},
		"delete a pod by another's proof": upgrade.DeletePod{Name: "web-0-0", UID: "p1", Proof: neverRanProof(t)},
		"delete its successor":            upgrade.DeletePod{Name: "web-0-1", UID: "p2", Proof: neverRanProof(t)},
		"delete whoever has its name":     upgrade.DeletePod{Name: "web-0-1", Proof: neverRanProof(t)},
		"failover":                        upgrade.Failover{To: upgrade.Member{ID: "a"}},
	} {
		if _, err := (Upgrade{Live: read.Live{Reader: shelf{}}}).Act(t.Context(), &valkeyv1.ValkeyUpgrade{}, effect); !errors.Is(err, errUnproven) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// neverRanProof allows to delete web-0-1, as long as it is p1.
func neverRanProof(t *testing.T) plan.PodProof {
	t.Helper()
	proof, doubt := plan.ProveDeletePod(topology.Nodes{{Pod: topology.Pod{Name: "web-0-1", UID: "p1", NeverRan: true}}}, "web-0-1", 0)
	if doubt != "" {
		t.Fatal(doubt)
	}
	return proof
}

// shelf is an API server with one object of each kind.
type shelf struct {
	upgrade valkeyv1.ValkeyUpgrade
	set     appsv1.StatefulSet
	pod     *corev1.Pod
}

func (s shelf) Get(_ context.Context, key read.Key, obj client.Object, _ ...client.GetOption) error {
	switch o := obj.(type) {
	case *valkeyv1.ValkeyUpgrade:
		s.upgrade.DeepCopyInto(o)
	case *appsv1.StatefulSet:
		s.set.DeepCopyInto(o)
	case *corev1.Pod:
		if s.pod == nil {
			return apierrors.NewNotFound(schema.GroupResource{Resource: "pods"}, key.Name)
		}
		s.pod.DeepCopyInto(o)
	}
	return nil
}

func (shelf) List(context.Context, client.ObjectList, ...client.ListOption) error { return nil }

// A proof is of what was seen. What the API server itself says last can still forbid it.
func TestAPodThatIsNotOutdatedStays(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*shelf)
		want   fsm.ErrorClass // "" is that nothing is left to do
	}{
		"the pod is gone":                 {func(s *shelf) { s.pod = nil }, ""},
		"the pod is another":              {func(s *shelf) { s.pod.UID = "p2" }, ""},
		"the pod is what is wanted":       {func(s *shelf) { s.pod.Labels[appsv1.ControllerRevisionHashLabelKey] = "new" }, fsm.Changed},
		"the pod is somebody else's":      {func(s *shelf) { s.pod.OwnerReferences[0].UID = "s2" }, fsm.Changed},
		"the template is another":         {func(s *shelf) { s.set.Annotations[valkeyv1.TemplateAnnotation] = "later" }, fsm.Changed},
		"the template was not seen yet":   {func(s *shelf) { s.set.Generation = 2 }, fsm.Changed},
		"the template makes another":      {func(s *shelf) { s.set.Status.UpdateRevision = "newer" }, fsm.Changed},
		"the StatefulSet has no revision": {func(s *shelf) { s.set.Status.UpdateRevision = "" }, fsm.Changed},
	} {
		t.Run(name, func(t *testing.T) {
			controls := true
			s := shelf{
				upgrade: valkeyv1.ValkeyUpgrade{ObjectMeta: metav1.ObjectMeta{Name: "to-9", UID: "u1", ResourceVersion: "7"}},
				set: appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "web-0", UID: "s1", Generation: 1, Annotations: map[string]string{valkeyv1.TemplateAnnotation: "t"}},
					Status: appsv1.StatefulSetStatus{ObservedGeneration: 1, UpdateRevision: "new"}},
				pod: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web-0-1", UID: "p1", Labels: map[string]string{appsv1.ControllerRevisionHashLabelKey: "old"},
					OwnerReferences: []metav1.OwnerReference{{UID: "s1", Controller: &controls}}}},
			}
			u := s.upgrade.DeepCopy()
			c.change(&s)
			e := upgrade.DeletePod{Name: "web-0-1", UID: "p1", Version: "1", Set: "web-0", Template: "t", Revision: "new", Proof: neverRanProof(t)}
			_, err := Upgrade{Live: read.Live{Reader: s}}.Act(t.Context(), u, e)
			if c.want == "" && err != nil || c.want != "" && (err == nil || fsm.ClassOf(err) != c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}
