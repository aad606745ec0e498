package request

import (
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
)

// TestNamesOfExecutions are legal and differ, whatever a request is called.
func TestNamesOfExecutions(t *testing.T) {
	long := strings.Repeat("a", 51) + "." + strings.Repeat("b", 200)
	seen := map[string]bool{}
	for _, name := range []string{"repair", "repair.of.shop", long} {
		for _, uid := range []string{"r1", "r2"} {
			for _, step := range []string{"first", "second"} {
				for attempt := int32(1); attempt < 12; attempt++ {
					for _, undo := range []bool{false, true} {
						child := ChildName(uidOf(uid), name, step, attempt, undo)
						if errs := validation.IsDNS1123Subdomain(child); len(errs) > 0 || len(child) > longestName || seen[child] {
							t.Errorf("%s: %v, seen before: %t", child, errs, seen[child])
						}
						seen[child] = true
					}
				}
			}
		}
	}
}

// child is the execution of the present try of a step, as the manager makes it.
func child(t *testing.T, rr *remediationv1.RemediationRequest, name string, undo bool) *remediationv1.KubernetesExecution {
	t.Helper()
	r := runOf(statusOf(rr, name), undo)
	spec, asks := ChildSpec(rr, name, r.Attempt, undo)
	if !asks {
		t.Fatalf("the request does not ask for step %s", name)
	}
	x := &remediationv1.KubernetesExecution{Spec: spec}
	x.Name, x.UID = r.Execution.Name, r.Execution.UID
	return x
}

// TestWhatARequestAsksFor: an execution that differs in anything is not asked for, and neither is another try.
func TestWhatARequestAsksFor(t *testing.T) {
	rr := atSecond(object())
	rr.Spec.Steps[1].Parameters = map[string]apiextensionsv1.JSON{"replicas": {Raw: []byte("5")}}
	rr.Spec.Steps[1].PreConditions = []remediationv1.Condition{{Name: "calm", Required: true, Parameters: map[string]apiextensionsv1.JSON{"n": {Raw: []byte(`{"a":1,"b":2}`)}}}}
	for name, change := range map[string]struct {
		do   func(*remediationv1.KubernetesExecution)
		asks bool
	}{
		"as it was made": {func(*remediationv1.KubernetesExecution) {}, true},
		"cancelled":      {func(x *remediationv1.KubernetesExecution) { x.Spec.Cancel = true }, true},
		"as the API server has it": {func(x *remediationv1.KubernetesExecution) {
			x.Spec.PreConditions[0].Parameters["n"] = apiextensionsv1.JSON{Raw: []byte(`{"b": 2, "a": 1}`)}
		}, true},
		"another action": {func(x *remediationv1.KubernetesExecution) { x.Spec.Action = "delete_pod" }, false},
		"another target": {func(x *remediationv1.KubernetesExecution) { x.Spec.Target.Name = "other" }, false},
		"another parameter": {func(x *remediationv1.KubernetesExecution) {
			x.Spec.Parameters["replicas"] = apiextensionsv1.JSON{Raw: []byte("6")}
		}, false},
		"one parameter more": {func(x *remediationv1.KubernetesExecution) {
			x.Spec.Parameters["more"] = apiextensionsv1.JSON{Raw: []byte("6")}
		}, false},
		"no precondition":           {func(x *remediationv1.KubernetesExecution) { x.Spec.PreConditions = nil }, false},
		"another precondition":      {func(x *remediationv1.KubernetesExecution) { x.Spec.PreConditions[0].Required = false }, false},
		"another requester":         {func(x *remediationv1.KubernetesExecution) { x.Spec.Requester.Username = "olga" }, false},
		"another deadline":          {func(x *remediationv1.KubernetesExecution) { x.Spec.TimeoutSeconds++ }, false},
		"another try":               {func(x *remediationv1.KubernetesExecution) { x.Spec.Parent.Attempt++ }, false},
		"another step":              {func(x *remediationv1.KubernetesExecution) { x.Spec.Parent.Step = "first" }, false},
		"no step of the request":    {func(x *remediationv1.KubernetesExecution) { x.Spec.Parent.Step = "none" }, false},
		"of another request":        {func(x *remediationv1.KubernetesExecution) { x.Spec.Parent.UID = "r2" }, false},
		"by another name":           {func(x *remediationv1.KubernetesExecution) { x.Name = "mine" }, false},
		"as if it took a step back": {func(x *remediationv1.KubernetesExecution) { x.Spec.Parent.Undo = true }, false},
		"a rollback of something": {func(x *remediationv1.KubernetesExecution) {
			x.Spec.RollbackOf = &remediationv1.ExecutionRef{Name: "more", UID: "x1"}
		}, false},
		"without a parent": {func(x *remediationv1.KubernetesExecution) { x.Spec.Parent = nil }, false},
	} {
		x := child(t, rr, "second", false)
		change.do(x)
		if asks := Asks(rr, x); asks != change.asks {
			t.Errorf("%s: asks for it: %t", name, asks)
		}
	}
	if _, asks := ChildSpec(rr, "third", 1, false); asks {
		t.Error("asks for a step that has not begun")
	}
}

// TestWhatTakesAStepBack is what the execution of the step says about its rollback, and not what the step says.
func TestWhatTakesAStepBack(t *testing.T) {
	rr := atSecond(object())
	first := &rr.Status.Steps[0]
	if _, asks := ChildSpec(rr, "first", 1, true); asks {
		t.Error("asks for a rollback that has not begun")
	}
	first.Undo = &remediationv1.StepRun{Attempt: 1, Execution: &remediationv1.ChildRef{Name: ChildName("r1", "repair", "first", 1, true), UID: "u1"}}
	first.RollbackInformation.RollbackParameters = map[string]apiextensionsv1.JSON{"replicas": {Raw: []byte("2")}}
	rr.Spec.Steps[0].PostConditions = []remediationv1.Condition{{Name: "scaled"}}
	x := child(t, rr, "first", true)
	if of := x.Spec.RollbackOf; of == nil || of.Name != first.Execution.Name || of.UID != first.Execution.UID {
		t.Errorf("it takes back %+v", of)
	}
	if string(x.Spec.Parameters["replicas"].Raw) != "2" || x.Spec.PostConditions != nil || !x.Spec.Parent.Undo || !Asks(rr, x) {
		t.Errorf("%+v", x.Spec)
	}
	first.RollbackInformation.Available = false
	if Asks(rr, x) {
		t.Error("asks for the rollback of what has no way back")
	}
}

// TestWhichExecutionIsNamed: the one whose UID is saved for the present try, and no other of its name.
func TestWhichExecutionIsNamed(t *testing.T) {
	rr := atSecond(object())
	x := child(t, rr, "second", false)
	if !Named(rr, x) {
		t.Error("the execution of the step is not named")
	}
	for name, change := range map[string]func(*remediationv1.RemediationRequest, *remediationv1.KubernetesExecution){
		"made anew": func(_ *remediationv1.RemediationRequest, x *remediationv1.KubernetesExecution) { x.UID = "other" },
		"not saved yet": func(rr *remediationv1.RemediationRequest, x *remediationv1.KubernetesExecution) {
			rr.Status.Steps[1].Execution.UID = ""
			x.UID = ""
		},
		"of a former try": func(rr *remediationv1.RemediationRequest, _ *remediationv1.KubernetesExecution) {
			rr.Status.Steps[1].Execution = nil
		},
		"of another request": func(rr *remediationv1.RemediationRequest, _ *remediationv1.KubernetesExecution) { rr.UID = "r2" },
		"of a lost status": func(rr *remediationv1.RemediationRequest, _ *remediationv1.KubernetesExecution) {
			rr.Status.Steps = nil
		},
		"as if it took it back": func(_ *remediationv1.RemediationRequest, x *remediationv1.KubernetesExecution) {
			x.Spec.Parent.Undo = true
		},
	} {
		rr := atSecond(object())
		x := child(t, rr, "second", false)
		if change(rr, x); Named(rr, x) {
			t.Errorf("%s: it is named", name)
		}
	}
}
