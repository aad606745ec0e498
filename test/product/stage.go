package product

import (
	"context"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

// Stage is what a test on real nodes begins with, whatever the area: a bed with images, the
// area's kinds and roles, its program, and a namespace of the test's own.
type Stage struct {
	T         *testing.T
	Bed       *bed.Bed
	Client    client.Client
	Manager   *Manager // not started yet
	Namespace string
}

// StageOptions is what differs between stages.
type StageOptions struct {
	Area   string
	Nodes  int
	With   []bed.Part
	Images []string
	Args   []string // of the program
}

// NewStage makes a stage. A client knows the kinds that the area knows.
func NewStage(t *testing.T, o StageOptions) *Stage {
	t.Helper()
	b := bedtest.Nodes(t, o.Nodes, o.With...)
	if err := b.LoadImages(t.Context(), o.Images...); err != nil {
		t.Fatal(err)
	}
	c := harness.Client(t, b, find(t, o.Area).Default().AddToScheme)
	return &Stage{T: t, Bed: b, Client: c, Manager: NewManager(t, b, o.Area, o.Args...), Namespace: bedtest.Namespace(t, b)}
}

// Create creates an object, in the namespace of the test unless it names another.
func (s *Stage) Create(obj client.Object) {
	s.T.Helper()
	if obj.GetNamespace() == "" {
		obj.SetNamespace(s.Namespace)
	}
	if err := s.Client.Create(s.T.Context(), obj); err != nil {
		s.T.Fatal(err)
	}
}

// Delete deletes something, in the background; also when the test has ended.
func (s *Stage) Delete(obj client.Object) {
	s.T.Helper()
	ctx := context.WithoutCancel(s.T.Context())
	if err := s.Client.Delete(ctx, obj, client.PropagationPolicy(metav1.DeletePropagationBackground)); client.IgnoreNotFound(err) != nil {
		s.T.Fatal(err)
	}
}

// AwaitGone waits until something is gone.
func (s *Stage) AwaitGone(obj client.Object) {
	s.T.Helper()
	harness.Eventually(s.T, timeout.Wait, stagePoll, func() error { return harness.Gone(s.T.Context(), s.Client, obj) })
}

// stagePoll is how often a stage looks.
const stagePoll = 50 * time.Millisecond

// Kubectl runs a command in the namespace of the test.
func (s *Stage) Kubectl(args ...string) string {
	s.T.Helper()
	out, err := s.Bed.Kubectl(s.T.Context(), append([]string{"-n", s.Namespace}, args...)...)
	if err != nil {
		s.T.Fatalf("kubectl %v: %v\n%s", args, err, out)
	}
	return out
}
