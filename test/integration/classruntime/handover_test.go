package classruntime

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	runtimev1 "github.com/statecraft-dev/statecraft/api/runtime/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/child"
	"github.com/statecraft-dev/statecraft/internal/classruntime/act"
	"github.com/statecraft-dev/statecraft/internal/classruntime/class"
	"github.com/statecraft-dev/statecraft/internal/classruntime/ownership"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

// numbers are the replicas of a Deployment, as a watch shows them, one after another.
type numbers struct {
	mu   sync.Mutex
	seen []int32
}

// watch records every number that Deployment cart-add has from now on.
func (s *stage) watch() *numbers {
	s.Helper()
	clients, err := kubernetes.NewForConfig(s.bed.Config())
	if err != nil {
		s.Fatal(err)
	}
	events, err := clients.AppsV1().Deployments(s.namespace).Watch(s.Context(), metav1.ListOptions{FieldSelector: "metadata.name=cart-add"})
	if err != nil {
		s.Fatal(err)
	}
	n := &numbers{}
	go func() {
		for e := range events.ResultChan() {
			if d, is := e.Object.(*appsv1.Deployment); is {
				n.add(*d.Spec.Replicas)
			}
		}
	}()
	s.Cleanup(events.Stop)
	return n
}

func (n *numbers) add(replicas int32) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.seen) == 0 || n.seen[len(n.seen)-1] != replicas {
		n.seen = append(n.seen, replicas)
	}
}

// are waits until the watch has shown these numbers, and no others.
func (n *numbers) are(t *testing.T, want ...int32) {
	t.Helper()
	harness.Eventually(t, timeout.Wait, poll, func() error {
		n.mu.Lock()
		defer n.mu.Unlock()
		if !slices.Equal(n.seen, want) {
			return fmt.Errorf("the watch has shown %v, want %v", n.seen, want)
		}
		return nil
	})
}

// hands apply one function as the manager does, without a manager: also for a lane of enforcement.
type hands struct {
	*stage
	class *runtimev1.ClassRuntime
	act.Class
	edits int
}

func newHands(s *stage) *hands {
	s.Helper()
	f := function("add", 0)
	f.Replicas = ptr.To(int32(2))
	h := &hands{stage: s, class: s.newClass(f)}
	s.create(h.class)
	env := kube.Env{Client: s.Client, Live: s.Client}
	h.Class = act.Class{Writer: env.Writer(ownership.SpecController), Lane: env.Writer(ownership.LaneController), Live: env.LiveReader()}
	return h
}

// apply edits the image as well, so that each apply writes something, and says how many replicas there are then.
func (h *hands) apply(lane *int32, retake bool) int32 {
	h.Helper()
	h.edits++
	h.class.Spec.Functions[0].Image = fmt.Sprintf("add:%d", h.edits)
	t := class.Target{Function: "add", Ref: class.Ref{Kind: class.KindDeployment, Name: "cart-add"}, Lane: lane, Retake: retake}
	if _, err := h.Act(h.Context(), h.class, class.Apply{Children: []class.Target{t}}); err != nil {
		h.Fatal(err)
	}
	d := h.deployment("add")
	if image := d.Spec.Template.Spec.Containers[0].Image; image != h.class.Spec.Functions[0].Image {
		h.Errorf("the image is %s", image)
	}
	return *d.Spec.Replicas
}

func (h *hands) wants(what string, got, want int32, owners ...string) {
	h.Helper()
	if got != want {
		h.Errorf("%s: %d replicas, want %d", what, got, want)
	}
	field, err := ownership.Read(h.deployment("add"))
	var have []string
	for _, o := range field.Owners {
		have = append(have, o.Manager)
	}
	slices.Sort(owners)
	if err != nil || !slices.Equal(have, owners) {
		h.Errorf("%s: owned by %v, want %v: %v", what, have, owners, err)
	}
}

// scale writes through /scale, as a field manager.
func (s *stage) scale(manager string, n int32) {
	s.Helper()
	patch := client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, n))
	body := client.WithSubResourceBody(&autoscalingv1.Scale{})
	if err := s.SubResource("scale").Patch(s.Context(), s.deployment("add"), patch, client.FieldOwner(manager), body); err != nil {
		s.Fatal(err)
	}
}

// autoscaler is one of another owner, whose limits let the cluster's own controller change nothing.
func (s *stage) autoscaler(name string) *autoscalingv2.HorizontalPodAutoscaler {
	return &autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name},
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "cart-add"},
			MinReplicas:    ptr.To(int32(1)), MaxReplicas: 20,
		},
	}
}

const hpaManager = "kube-controller-manager"

// TestReplicasNeverFallWhenTheyChangeHands hands the number from the spec to a lane, to an autoscaler, back to a lane, to a person and
// back to the spec, while the image is edited. A watch sees it fall only where a person asks for less.
func TestReplicasNeverFallWhenTheyChangeHands(t *testing.T) {
	s := newStage(t)
	h := newHands(s)
	ours, lane := child.Manager(ownership.SpecController), child.Manager(ownership.LaneController)
	h.wants("made", h.apply(nil, false), 2, ours)
	seen := s.watch()
	rounds := harness.ByLevel(3, 30)
	for range rounds {
		h.wants("a lane begins", h.apply(ptr.To(int32(2)), false), 2, lane)
		h.wants("a lane wants more", h.apply(ptr.To(int32(4)), false), 4, lane)
		hpa := s.autoscaler("theirs")
		s.create(hpa)
		h.wants("an autoscaler that has not written", h.apply(nil, false), 4, ours)
		s.scale(hpaManager, 6)
		h.wants("an autoscaler that has", h.apply(nil, false), 6, hpaManager)
		s.remove(hpa)
		h.wants("an autoscaler that is gone", h.apply(nil, false), 6, hpaManager, ours)
		h.wants("a lane again", h.apply(ptr.To(int32(7)), false), 7, lane)
		h.wants("a lane is over", h.apply(nil, false), 7, ours)
		s.scale("kubectl", 8)
		h.wants("a person", h.apply(nil, false), 8, "kubectl")
		h.wants("a lane yields", h.apply(ptr.To(int32(9)), false), 8, "kubectl")
		h.wants("taken back", h.apply(nil, true), 2, ours)
	}
	want := []int32{2}
	for range rounds {
		want = append(want, 4, 6, 7, 8, 2)
	}
	seen.are(t, want...)
}

// TestATakeOverTakesNothingElse: a person asks for the replicas, and the image is another controller's.
func TestATakeOverTakesNothingElse(t *testing.T) {
	s := newStage(t)
	h := newHands(s)
	h.apply(nil, false)
	patch := []byte(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"cart-add"},"spec":{"replicas":5,"template":{"spec":{"containers":[{"name":"function","image":"theirs"}]}}}}`)
	if err := s.Patch(t.Context(), s.deployment("add"), client.RawPatch("application/apply-patch+yaml", patch), client.FieldOwner("argocd-controller"), client.ForceOwnership); err != nil {
		t.Fatal(err)
	}
	target := class.Target{Function: "add", Ref: class.Ref{Kind: class.KindDeployment, Name: "cart-add"}, Retake: true}
	if _, err := h.Act(t.Context(), h.class, class.Apply{Children: []class.Target{target}}); err == nil {
		t.Error("the image of another controller was taken")
	}
	is := s.deployment("add")
	if image := is.Spec.Template.Spec.Containers[0].Image; image != "theirs" || *is.Spec.Replicas != 5 {
		t.Errorf("image %s, %d replicas", image, *is.Spec.Replicas)
	}
}
