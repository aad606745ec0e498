//go:build full

package remediation

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/remediation/execution"
	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/product"
)

// TestActionsOfYourOwn defines actions as an administrator does, who applies a file and waits for nothing.
func TestActionsOfYourOwn(t *testing.T) {
	s := newStage(t)
	s.production()
	sample, err := os.ReadFile(filepath.Join(harness.Root(t), "config", "samples", "remediation", "actiondefinition.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	harness.Apply(t, s.bed, string(sample))
	s.forgets("scale-a-little")
	t.Run("is done and taken back", func(t *testing.T) { s.of(t).scalesALittle() })
	t.Run("has its own limits", func(t *testing.T) { s.of(t).scalesTooFar() })
	t.Run("by an image", func(t *testing.T) { s.of(t).refusesAnImage() })
}

// forgets removes a definition when the test has ended.
func (s *stage) forgets(definition string) {
	s.Cleanup(func() {
		def := &remediationv1.ActionDefinition{ObjectMeta: metav1.ObjectMeta{Name: definition}}
		if err := s.admin.Delete(context.WithoutCancel(s.Context()), def); client.IgnoreNotFound(err) != nil {
			s.Error(err)
		}
	})
}

func (s *stage) scalesALittle() {
	s.Helper()
	began := time.Now()
	d := deed{action: "scale_a_little", builtin: "scale_deployment", target: deployment, name: "web", parameters: `{"replicas":4}`}
	x := s.asked(s.dora, d, func(x *remediationv1.KubernetesExecution) {
		x.Spec.PostConditions = []remediationv1.Condition{{Name: "deployment_available", Required: true, TimeoutSeconds: 60}}
	})
	s.approved(x)
	x = s.until(x.Name, "rollback_ready")
	if held := x.Status.ValidationResults.PostConditionResults; len(held) != 1 || !held[0].Holds {
		s.Errorf("postconditions: %+v", held)
	}
	if back := x.Status.RollbackInformation; x.Status.Effect != remediationv1.EffectApplied || s.replicas("web") != 4 ||
		!back.Available || back.RollbackAction != d.action {
		s.Errorf("%s, %d replicas, the way back is %+v", x.Status.Effect, s.replicas("web"), back)
	}
	s.undoes(s.dora, d, x)
	if s.replicas("web") != 2 {
		s.Errorf("%d replicas after it was taken back", s.replicas("web"))
	}
	account := "system:serviceaccount:" + s.namespace + ":" + execution.DefinitionAccount(d.action)
	writes, err := s.bed.Writes(began, account)
	if err != nil {
		s.Fatal(err)
	}
	writes = slices.DeleteFunc(writes, func(w bed.Write) bool { return w.Code >= 300 })
	if len(writes) != 2 {
		s.Errorf("the account of the action wrote %d times, want twice: %v", len(writes), writes)
	}
}

func (s *stage) scalesTooFar() {
	s.Helper()
	x := scale("too-far", "web", 11)
	x.Spec.Action = "scale_a_little"
	s.create(s.dora, x)
	s.doesNothing(s.until("too-far", "failed"), "replicas")
}

// refusesAnImage: actions that run an image of their own can be defined, and their executions say that this version does not do them.
func (s *stage) refusesAnImage() {
	s.Helper()
	const name = "own-image"
	s.forgets(name)
	if err := s.admin.Create(s.Context(), &remediationv1.ActionDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: remediationv1.ActionDefinitionSpec{
			Description: "Does what an image does.", Image: product.Registry + "/action@sha256:" + strings.Repeat("0", 64),
			Args: []string{"--name", "$(target.name)"}, ClusterRoleName: "statecraft-action-" + name,
			Access:      []remediationv1.Access{{Group: "apps", Resource: "deployments", Verb: "patch"}},
			TargetKinds: []remediationv1.TargetKind{{Group: "apps", Version: "v1", Kind: "Deployment", Resource: "deployments"}},
		},
	}); err != nil {
		s.Fatal(err)
	}
	x := scale("by-an-image", "web", 3)
	x.Spec.Action, x.Spec.Parameters = remediationv1.ActionOf(name), nil
	s.create(s.dora, x)
	s.doesNothing(s.until("by-an-image", "failed"), "runs an image of its own, which this version does not support")
}

// doesNothing looks whether an execution was refused in these words, and left nothing behind.
func (s *stage) doesNothing(x *remediationv1.KubernetesExecution, words string) {
	s.Helper()
	if x.Status.Reason != "validation_error" || x.Status.Effect != remediationv1.EffectNone || !strings.Contains(message(x), words) {
		s.Errorf("%s, %s: %s", x.Status.Reason, x.Status.Effect, message(x))
	}
	jobs := &batchv1.JobList{}
	if err := s.admin.List(s.Context(), jobs, client.InNamespace(s.namespace), client.MatchingLabels{remediationv1.ExecutionLabel: string(x.UID)}); err != nil {
		s.Fatal(err)
	}
	if len(jobs.Items) != 0 || s.replicas("web") != 2 {
		s.Errorf("it has %d Jobs, and web has %d replicas", len(jobs.Items), s.replicas("web"))
	}
}
