package remediation

import (
	"errors"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/statecraft-dev/statecraft/test/harness"
)

// attack is one that must be refused.
type attack struct {
	name string
	by   []string
	try  func(t *testing.T, s *stage, a actor) error // nil if it has succeeded
	says string                                      // how admission refuses it
	rbac string                                      // how RBAC refuses it to an editor before
	// proves names the policy that alone refuses it.
	proves string
	// passes is what an attack is told that got past admission, if nothing more can come of it here.
	passes string
	// undone says that it may fail without being refused: policies run in no order.
	undone bool
	// wet attacks cannot be tried without writing: it would be another attack.
	wet bool
}

// both are those to whom the policies are the only limit.
var both = []string{editor, clusterAdmin}

type group struct {
	name    string
	attacks []attack
}

func groups() []group {
	return []group{
		{"Identity", identity()},
		{"Access", access()},
		{"Approval", approvals()},
		{"Borrowing", slices.Concat(borrowedAccounts(), borrowedJobs(), borrowedPods())},
		{"Power", power()},
		{"Record", record()},
		{"Input", input()},
	}
}

// errUndone is how an attack fails that is not refused: admission undoes what it gave.
var errUndone = errors.New("admission wrote over what was given")

// TestAttacks tries every attack as everybody who may try it.
func TestAttacks(t *testing.T) {
	s := newStage(t)
	named, tried := 0, 0
	for _, g := range groups() {
		t.Run(g.name, func(t *testing.T) {
			for _, attack := range g.attacks {
				named++
				for _, by := range attack.by {
					tried++
					t.Run(attack.name+" by "+by, func(t *testing.T) { attack.fails(t, s, by) })
				}
			}
		})
	}
	harness.Row(t, "%d attacks, tried %d times", named, tried)
	if named < 60 {
		t.Errorf("there are %d attacks, want 60", named)
	}
}

func (a attack) fails(t *testing.T, s *stage, by string) {
	t.Helper()
	err := a.try(t, s, s.actors[by].in(t))
	if err == nil {
		t.Error("it succeeded")
	} else if !a.refused(err, by) {
		t.Errorf("it is refused as\n\t%v\nwant\n\t%s", err, a.words(by))
	}
}

func (a attack) refused(err error, by string) bool {
	return err != nil && (strings.Contains(err.Error(), a.words(by)) || a.undone && errors.Is(err, errUndone))
}

func (a attack) words(by string) string {
	if by == editor && a.rbac != "" {
		return a.rbac
	}
	return a.says
}

// in is the actor in a test of its own.
func (a actor) in(t testing.TB) actor {
	a.t = t
	return a
}

func deployment(name, account string) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	d := &appsv1.Deployment{ObjectMeta: named(name), Spec: appsv1.DeploymentSpec{
		Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: podSpec(account)},
	}}
	d.Spec.Template.Spec.RestartPolicy = ""
	return d
}
