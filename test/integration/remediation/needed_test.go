package remediation

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statecraft-dev/statecraft/config"
	"github.com/statecraft-dev/statecraft/test/harness"
)

const (
	validatingBinding = "ValidatingAdmissionPolicyBinding"
	mutatingBinding   = "MutatingAdmissionPolicyBinding"
)

// bindings are what puts policies in force, by their topics.
func bindings(t *testing.T, kind string) map[string]*unstructured.Unstructured {
	t.Helper()
	objects, err := config.Objects(area, harness.SystemNamespace, config.Policies)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*unstructured.Unstructured{}
	for _, obj := range objects {
		if topic, ok := strings.CutSuffix(obj.GetName(), ".remediation.statecraft.dev"); !ok {
			t.Errorf("%s %s is not named after its topic", obj.GetKind(), obj.GetName())
		} else if obj.GetKind() == kind {
			all[topic] = obj
		}
	}
	return all
}

// without takes policies out of force until the returned function is called.
func (s *stage) without(t *testing.T, bindings ...*unstructured.Unstructured) func() {
	t.Helper()
	for _, b := range bindings {
		if err := s.admin.Delete(t.Context(), b.DeepCopy()); err != nil {
			t.Fatal(err)
		}
	}
	back := func() {
		for _, b := range bindings {
			if err := client.IgnoreAlreadyExists(s.admin.Create(context.WithoutCancel(t.Context()), b.DeepCopy())); err != nil {
				t.Errorf("put %s back: %v", b.GetName(), err)
			}
		}
	}
	t.Cleanup(back)
	return back
}

// TestEachPolicyIsNeeded takes each policy away: then an attack succeeds that it alone refuses.
func TestEachPolicyIsNeeded(t *testing.T) {
	s, proofs := newStage(t), map[string]attack{}
	for _, g := range groups() {
		for _, a := range g.attacks {
			if a.proves != "" {
				proofs[a.proves] = a
			}
		}
	}
	for topic, binding := range bindings(t, validatingBinding) {
		t.Run(topic, func(t *testing.T) {
			attack, ok := proofs[topic]
			if !ok {
				t.Fatal("no attack shows what it is for")
			}
			delete(proofs, topic)
			by := s.actors[attack.by[len(attack.by)-1]].in(t)
			if !attack.wet {
				by = by.dryRun()
			}
			try := func() error { return attack.try(t, s, by) }
			refused := func() error {
				if err := try(); err == nil || !strings.Contains(err.Error(), attack.says) {
					return fmt.Errorf("%q by %s is not refused: %w", attack.name, by.name, err)
				}
				return nil
			}
			harness.Eventually(t, soon, poll, refused)
			back := s.without(t, binding)
			harness.Eventually(t, soon, poll, func() error {
				err := try()
				if err != nil && (attack.passes == "" || !strings.Contains(err.Error(), attack.passes)) {
					return fmt.Errorf("%q by %s does not succeed without policy %s: %w", attack.name, by.name, topic, err)
				}
				return nil
			})
			back()
			harness.Eventually(t, soon, poll, refused)
		})
	}
	for topic := range proofs {
		t.Errorf("there is no policy %s", topic)
	}
}

// TestWithoutAStampNothingIsMade takes the policies away that write who it was: then nobody is believed, and without
// those that look again, a forger is.
func TestWithoutAStampNothingIsMade(t *testing.T) {
	s := newStage(t)
	checks := bindings(t, validatingBinding)
	find := func(name string) attack {
		for _, g := range groups() {
			for _, a := range g.attacks {
				if a.name == name {
					return a
				}
			}
		}
		t.Fatalf("no attack is named %q", name)
		return attack{}
	}
	for topic, stamp := range bindings(t, mutatingBinding) {
		t.Run(topic, func(t *testing.T) {
			by, honest, forged := s.actors[editor].in(t).dryRun(), creating(func(*kx) {}), find("forge the requester")
			if topic == "approver" {
				honest, forged = deciding(anothers, "Approved", asIs), find("forge the approver")
			}
			says := "spec." + topic + " must be the user"
			back := s.without(t, stamp)
			harness.Eventually(t, soon, poll, func() error {
				if err := honest(t, s, by); err == nil || !strings.Contains(err.Error(), says) {
					return fmt.Errorf("what nobody has stamped is not refused: %w", err)
				}
				return nil
			})
			if err := forged.try(t, s, by); err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("a forger is told %v, want %q", err, says)
			}
			backAgain := s.without(t, checks[topic])
			harness.Eventually(t, soon, poll, func() error { return forged.try(t, s, by) })
			back()
			backAgain()
			harness.Eventually(t, soon, poll, func() error { return honest(t, s, by) })
			harness.Eventually(t, soon, poll, func() error {
				attack := find("forge by a policy the " + topic)
				if err := attack.try(t, s, by); !attack.refused(err, editor) {
					return fmt.Errorf("a forger is told %w", err)
				}
				return nil
			})
		})
	}
}
