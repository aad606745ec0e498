package kube

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube/kubetest"
)

// Of a kind that others have too, the machine sees its own alone.
func TestObjectsOfOthersAreNotPassedOver(t *testing.T) {
	b := newBench(lampMachine())
	ours := true
	b.Concerns = func(*kubetest.Lamp) bool { return ours }
	b.pass(t)
	ours = false
	b.world[off] = fsm.Do("Polish", effect("polish"))
	if again, err := b.Pass(t.Context(), lampKey); err != nil || again != fsm.Never {
		t.Errorf("again in %s, %v", again, err)
	}
	if diff := cmp.Diff([]string{"get", "then found=false"}, b.since()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(b.Trace.known) != 0 {
		t.Error("it is still counted")
	}
}

func TestObjectsOfOthersHaveNoSeries(t *testing.T) {
	_, c := lampObjects(t, lampMachine(), Shard{}, aLamp("ours-1", on, nil), aLamp("theirs", on, nil), aLamp("ours-2", on, nil))
	e := Env{Client: c, Live: c, Now: time.Now}
	r := NewReconciler(e, lampMachine())
	r.Concerns = func(l *kubetest.Lamp) bool { return strings.HasPrefix(l.Name, "ours") }
	if list, err := objectsOf(e, r).List(t.Context()); err != nil || len(list) != 2 {
		t.Errorf("%d have series, %v", len(list), err)
	}
}

// Events are about the kind that the API server has; the machine is asked about what it sees of it.
func TestConcernsIsAskedOfWhatTheMachineSees(t *testing.T) {
	r := &Reconciler[*kubetest.Pod, world]{
		Store:    NewAnnotationStore(Env{}, kubetest.PodProgress, kubetest.NewPod),
		Concerns: func(p *kubetest.Pod) bool { return p.Spec.NodeName == "ours" },
	}
	pod := func(node string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "lamp"}, Spec: corev1.PodSpec{NodeName: node}}
	}
	if !r.concerns(pod("ours")) || r.concerns(pod("theirs")) || r.concerns(&kubetest.Lamp{}) {
		t.Error("it is asked of another object")
	}
}
