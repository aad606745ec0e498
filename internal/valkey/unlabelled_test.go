package valkey

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/valkey/cluster"
	"github.com/statecraft-dev/statecraft/test/harness"
)

// TestRemovedLabelsComeBack takes the label by which caches find a child from children of every kind, of which there are
// then none to be seen. They get it back, and nothing is made or deleted for it.
func TestRemovedLabelsComeBack(t *testing.T) {
	s := newStage(t)
	c := s.create("web")
	s.reaches(c, cluster.Running)
	pods, moved := s.podUIDs(), len(c.Status.History)
	children := s.children("web")
	for _, child := range children {
		s.removeLabel(child, valkeyv1.ClusterLabel)
	}
	for _, child := range children {
		before := child.GetUID()
		harness.Eventually(t, within, poll, func() error {
			if err := s.Get(t.Context(), client.ObjectKeyFromObject(child), child); err != nil {
				return err
			}
			if child.GetLabels()[valkeyv1.ClusterLabel] != "web" {
				return fmt.Errorf("%T %s has labels %v", child, child.GetName(), child.GetLabels())
			}
			return nil
		})
		if child.GetUID() != before {
			t.Errorf("%T %s was made anew", child, child.GetName())
		}
		if set, is := child.(*appsv1.StatefulSet); is && set.Generation != 1 {
			t.Errorf("%s was changed: it is of generation %d", set.Name, set.Generation)
		}
	}
	s.reaches(c, cluster.Running)
	if len(c.Status.History) != moved || !maps.Equal(pods, s.podUIDs()) {
		t.Errorf("something happened for a label: %v", moves(c))
	}
}

// TestAPodWithoutLabelsKeepsItsPlace takes the labels of a primary's pod. Its StatefulSet gives it up, and no cache shows it,
// but its server serves: nobody takes over, nothing is forgotten, and with its labels it is one of the cluster again.
func TestAPodWithoutLabelsKeepsItsPlace(t *testing.T) {
	s := newStage(t)
	c := s.create("web")
	s.reaches(c, cluster.Running)
	pods := s.podUIDs()
	shards := slices.Clone(c.Status.Shards)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: shards[0].Primary}}
	if err := s.Get(t.Context(), client.ObjectKeyFromObject(pod), pod); err != nil {
		t.Fatal(err)
	}
	labels := pod.Labels
	s.removeLabel(pod, valkeyv1.ClusterLabel)
	harness.Eventually(t, within, poll, func() error {
		if err := s.Get(t.Context(), client.ObjectKeyFromObject(c), c); err != nil {
			return err
		}
		if !strings.Contains(c.Status.WaitingFor, "pod "+pod.Name+" does not belong to its StatefulSet: give it back its labels") {
			return fmt.Errorf("%s is %s, waiting for %q", c.Name, c.Status.Phase, c.Status.WaitingFor)
		}
		return nil
	})
	if !maps.Equal(pods, s.podUIDs()) {
		t.Errorf("pods %v, before %v", s.podUIDs(), pods)
	}
	if err := s.Patch(t.Context(), pod, client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"metadata":{"labels":{%q:%q}}}`,
		valkeyv1.ClusterLabel, labels[valkeyv1.ClusterLabel]))); err != nil {
		t.Fatal(err)
	}
	s.reaches(c, cluster.Running)
	if !maps.Equal(pods, s.podUIDs()) || c.Status.Shards[0] != shards[0] {
		t.Errorf("shard %+v, before %+v", c.Status.Shards[0], shards[0])
	}
}

// children are those of a cluster, as they are.
func (s *stage) children(of string) []client.Object {
	s.Helper()
	name := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: s.namespace, Name: name} }
	children := []client.Object{
		&corev1.Service{ObjectMeta: name(of)}, &corev1.Service{ObjectMeta: name(of + "-nodes")}, &corev1.ConfigMap{ObjectMeta: name(of)},
		&policyv1.PodDisruptionBudget{ObjectMeta: name(of)},
	}
	for i := range 3 {
		children = append(children, &appsv1.StatefulSet{ObjectMeta: name(fmt.Sprintf("%s-%d", of, i))})
	}
	for _, child := range children {
		if err := s.Get(s.Context(), client.ObjectKeyFromObject(child), child); err != nil {
			s.Fatal(err)
		}
	}
	return children
}

func (s *stage) removeLabel(obj client.Object, label string) {
	s.Helper()
	if err := s.Patch(s.Context(), obj, client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"metadata":{"labels":{%q:null}}}`, label))); err != nil {
		s.Fatal(err)
	}
}

// podUIDs are the pods of the namespace by name.
func (s *stage) podUIDs() map[string]types.UID {
	s.Helper()
	var pods corev1.PodList
	if err := s.List(s.Context(), &pods, client.InNamespace(s.namespace)); err != nil {
		s.Fatal(err)
	}
	uids := map[string]types.UID{}
	for i := range pods.Items {
		uids[pods.Items[i].Name] = pods.Items[i].UID
	}
	return uids
}
