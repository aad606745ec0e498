package explain

import (
	"errors"
	"flag"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/explain"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/remediation/execution"
	"github.com/statecraft-dev/statecraft/internal/reserve"
)

var update = flag.Bool("update", false, "write the golden texts anew")

const ours types.UID = "0d3a6c4e-9d0f-4c39-8f0e-0f8f3a1c2b5d"

var at = time.Date(2026, 5, 17, 9, 40, 0, 0, time.UTC)

// asked is an execution of dora's, in some phase.
func asked(phase fsm.Phase, effect remediationv1.Effect) *remediationv1.KubernetesExecution {
	five, two := apiextensionsv1.JSON{Raw: []byte("5")}, apiextensionsv1.JSON{Raw: []byte("2")}
	x := &remediationv1.KubernetesExecution{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "more", UID: ours}}
	x.Spec = remediationv1.KubernetesExecutionSpec{
		Action: "scale_deployment", Target: remediationv1.TargetRef{Kind: "Deployment", Name: "web"},
		Parameters: map[string]apiextensionsv1.JSON{"replicas": five}, Requester: &meta.Requester{Username: "dora"},
	}
	x.Status.Phase, x.Status.Effect = phase, effect
	x.Status.Plan = &remediationv1.Plan{
		Digest: strings.Repeat("ab", 32), Summary: "Scale Deployment web from 2 to 5 replicas",
		Target:  remediationv1.PlannedTarget{APIVersion: "apps/v1", Kind: "Deployment", Name: "web", UID: "5a1c9c52"},
		Changes: []remediationv1.Change{{Path: "spec.replicas", From: "2", To: "5"}},
		Inverse: &remediationv1.Inverse{Action: "scale_deployment", Parameters: map[string]apiextensionsv1.JSON{"replicas": two}},
		Policy:  remediationv1.PolicyDecision{Allowed: true, RequiresApproval: true},
	}
	return x
}

// target is the Deployment, with a token and two who wrote it.
func target(uid, token string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"replicas": int64(5)}}}
	u.SetKind("Deployment")
	u.SetName("web")
	u.SetUID(types.UID(uid))
	if token != "" {
		u.SetAnnotations(map[string]string{remediationv1.TokenAnnotation: token})
	}
	earlier, later := metav1.NewTime(at.Add(-time.Hour)), metav1.NewTime(at)
	u.SetManagedFields([]metav1.ManagedFieldsEntry{
		{Manager: "kubectl", Operation: "Update", Time: &earlier}, {Manager: writer, Operation: "Update", Time: &later},
		{Manager: "kube-controller-manager", Operation: "Update", Subresource: "status", Time: &later},
	})
	return u
}

// What a person reads who must look at a target.
func TestUnknown(t *testing.T) {
	x := asked(failed, remediationv1.EffectUnknown)
	x.Status.ExecutionResults = &remediationv1.ExecutionResults{Witnesses: "No witness says whether the target was changed: Job statecraft-x failed: DeadlineExceeded."}
	ref := remediationv1.ExecutionRef{Name: "more", UID: ours}
	marked := reserve.Ref{Kind: "Deployment.apps", Namespace: "shop", Name: "web", UID: "5a1c9c52"}
	pod := func(phase corev1.PodPhase, ended *corev1.ContainerStateTerminated) corev1.Pod {
		return corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "statecraft-x-1"}, Spec: corev1.PodSpec{NodeName: "node-1"}, Status: corev1.PodStatus{
			Phase: phase, ContainerStatuses: []corev1.ContainerStatus{{State: corev1.ContainerState{Terminated: ended}}},
		}}
	}
	for name, u := range map[string]Unknown{
		"done":     {Namespace: "shop", Ref: ref, Execution: x, Requester: "dora", Marked: []reserve.Ref{marked}, Target: target("5a1c9c52", string(ours)+"/done"), Pods: []corev1.Pod{pod(corev1.PodFailed, &corev1.ContainerStateTerminated{})}},
		"silent":   {Namespace: "shop", Ref: ref, Execution: x, Requester: "dora", Marked: []reserve.Ref{marked}, Target: target("5a1c9c52", ""), Pods: []corev1.Pod{pod(corev1.PodRunning, nil), pod(corev1.PodFailed, nil)}},
		"replaced": {Namespace: "shop", Ref: ref, Execution: x, Requester: "dora", Target: target("another", "")},
		"gone": {Namespace: "shop", Ref: ref, Requester: "dora", Marked: []reserve.Ref{marked}, Since: metav1.NewTime(at.Add(-10 * time.Minute)), Target: target("5a1c9c52", "another/done"),
			Unseen: []string{"You may not list pods in namespace shop, and a pod of the action on a silent node may still write."}},
	} {
		golden(t, "testdata/unknown_"+name+".golden", explain.Paper(u.Head(), u.Sections()...))
	}
}

func golden(t *testing.T, file, text string) {
	t.Helper()
	for _, line := range strings.Split(text, "\n") {
		if utf8.RuneCountInString(line) > 80 {
			t.Errorf("%s: more than 80 columns: %s", file, line)
		}
	}
	if *update {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), text); diff != "" {
		t.Errorf("%s (-update writes it anew): %s", file, diff)
	}
}

// A decision that would be of no use is not made, and the person hears what to do instead.
func TestHindrances(t *testing.T) {
	const approved, rejected, acknowledged = remediationv1.Approved, remediationv1.Rejected, remediationv1.Acknowledged
	planless := asked("validating", "")
	planless.Status.Plan = nil
	planless.Status.WaitingFor = "Waiting for a look at the target and at the policy."
	saved := asked(executing, remediationv1.EffectApplied)
	saved.Status.ExecutionResults = &remediationv1.ExecutionResults{}
	late := asked(failed, remediationv1.EffectNone)
	late.Status.Reason = "approval_timeout"
	for name, tc := range map[string]struct {
		x    *remediationv1.KubernetesExecution
		d    remediationv1.ApprovalDecision
		says string // "" if it may be decided
	}{
		"a plan that waits":             {asked(waiting, ""), approved, ""},
		"to reject it":                  {asked(waiting, ""), rejected, ""},
		"to reject one that is held":    {asked(validated, ""), rejected, ""},
		"to reject one that is begun":   {asked(executing, remediationv1.EffectStarted), rejected, ""},
		"to acknowledge a plan":         {asked(waiting, ""), acknowledged, "approve or reject it"},
		"no plan yet":                   {planless, approved, "has no plan yet. Waiting for a look at the target and at the policy. Wait for one: kubectl wait kx/more -n shop"},
		"not looked at":                 {&remediationv1.KubernetesExecution{}, approved, "The manager has not looked at it."},
		"a plan that is made anew":      {asked("validating", ""), approved, "has no plan yet"},
		"no approval is asked for":      {asked(validated, ""), approved, "needs no approval"},
		"it is carried out":             {asked(executing, remediationv1.EffectStarted), approved, "not waiting for approval any more"},
		"it is done":                    {saved, rejected, "has done its action already"},
		"it waits to be taken back":     {asked(rollbackReady, remediationv1.EffectApplied), approved, "another execution takes it back"},
		"it is completed":               {asked(completed, remediationv1.EffectApplied), rejected, "Its action is done."},
		"it came too late":              {late, approved, "in phase failed, with reason approval_timeout. Its requester makes another execution"},
		"its outcome is unknown":        {asked(failed, remediationv1.EffectUnknown), approved, "kubectl statecraft acknowledge more -n shop"},
		"to acknowledge that":           {asked(failed, remediationv1.EffectUnknown), acknowledged, ""},
		"to acknowledge what is known":  {late, acknowledged, "Its target is not marked"},
		"to acknowledge what runs":      {asked(executing, remediationv1.EffectStarted), acknowledged, "Wait for its end."},
		"to acknowledge what was done":  {asked(rollbackReady, remediationv1.EffectApplied), acknowledged, "Nothing needs to be done."},
		"to acknowledge without status": {&remediationv1.KubernetesExecution{}, acknowledged, "not known before its end (phase none yet)"},
	} {
		if got := Hindrance(tc.x, tc.d); (tc.says == "") != (got == "") || !strings.Contains(got, tc.says) {
			t.Errorf("%s: %q, want %q", name, got, tc.says)
		}
	}
}

// The phases are those of the machine, and a decision counts in those in which the machine asks for decisions.
func TestPhasesAreThoseOfTheMachine(t *testing.T) {
	for mine, machines := range map[fsm.Phase]fsm.Phase{
		validated: execution.Validated, waiting: execution.WaitingApproval, executing: execution.Executing,
		rollbackReady: execution.RollbackReady, completed: execution.Completed, failed: execution.Failed,
	} {
		if _, known := execution.Machine.Phases[machines]; mine != machines || !known {
			t.Errorf("%s is %s in the machine", mine, machines)
		}
	}
}

// A plan without changes, without a way back, or that undoes another says so.
func TestPlansSayAll(t *testing.T) {
	x := asked(waiting, "")
	x.Spec.RollbackOf = &remediationv1.ExecutionRef{Name: "before", UID: "1"}
	x.Spec.PostConditions = []remediationv1.Condition{{Name: "deployment_available", TimeoutSeconds: 60}}
	x.Status.Plan.Changes = []remediationv1.Change{{Path: "data.a", To: `"x   \u001b[2K"`}}
	x.Status.Plan.Policy = remediationv1.PolicyDecision{Reasons: []string{"not\x1b[1A today"}}
	x.Status.ValidationResults = &remediationv1.ValidationResults{
		DryRun:              &remediationv1.DryRunResult{Success: true, Warnings: []string{"deprecated"}},
		PreConditionResults: []remediationv1.ConditionResult{{Name: "calm"}, {Name: "quiet", Holds: true}, {Name: "odd", Message: "no such condition"}},
	}
	by := metav1.NewTime(at.Add(-time.Minute))
	x.Status.ApprovalBy = &by
	golden(t, "testdata/plan.golden", explain.Paper("It is this.", Plan(x, at)))
	if s := Plan(&remediationv1.KubernetesExecution{}, at); len(s.Entries) > 0 {
		t.Errorf("there is no plan, and %v is said", s)
	}
}

func TestRefusal(t *testing.T) {
	ref := remediationv1.ExecutionRef{Name: "more", UID: ours}
	words := Refusal(errors.New("forbidden: ValidatingAdmissionPolicy 'x' with binding 'x' denied request: spec.planDigest is not status.plan.digest of the execution, look at its plan again"), ref, "shop")
	if want := "The API server refuses the decision: spec.planDigest is not status.plan.digest of the execution, look at its plan again. The plan has changed since you looked at it"; !strings.HasPrefix(words, want) {
		t.Error(words)
	}
}
