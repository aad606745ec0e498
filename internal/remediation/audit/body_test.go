package audit

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

func at(minute int) *metav1.Time {
	return &metav1.Time{Time: time.Date(2026, 11, 19, 12, minute, 0, 0, time.UTC)}
}

// begun is an execution whose Job is made and saved.
func begun() *remediationv1.KubernetesExecution {
	x := &remediationv1.KubernetesExecution{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "more", UID: "x1", CreationTimestamp: *at(0)}}
	x.Spec = remediationv1.KubernetesExecutionSpec{
		Action: "scale_deployment", Target: remediationv1.TargetRef{Kind: "Deployment", Name: "web"},
		Parameters: map[string]apiextensionsv1.JSON{"replicas": {Raw: []byte("5")}, "data": {Raw: []byte(`{"b": "<b>",  "a": 9007199254740993}`)}},
		Requester:  &meta.Requester{Username: "dora", Groups: []string{"shop"}, Extra: map[string]meta.ExtraValue{"token": {"t1"}}},
	}
	x.Status.Plan = &remediationv1.Plan{
		Digest: "d1", Summary: "Scale Deployment web from 2 to 5 replicas", Footprint: "before", Action: "a1", Account: "statecraft-action-scale-deployment",
		Target: remediationv1.PlannedTarget{APIVersion: "apps/v1", Kind: "Deployment", Name: "web", UID: "t1"},
		Policy: remediationv1.PolicyDecision{Pack: "p1", Allowed: true, RequiresApproval: true, Reasons: []string{"namespaces of production need an approval"}},
	}
	x.Status.ValidationTime, x.Status.JobUID, x.Status.Effect = at(1), "j1", remediationv1.EffectStarted
	x.Status.ApprovalReceived = &remediationv1.ApprovalReceived{Name: "yes", Approver: "olga", PlanDigest: "d1", Until: at(59)}
	return x
}

// ended is the same, once it has ended.
func ended() *remediationv1.KubernetesExecution {
	x := begun()
	x.Status.Phase, x.Status.Effect, x.Status.CompletionTimestamp = "completed", remediationv1.EffectApplied, at(9)
	x.Status.ExecutionResults = &remediationv1.ExecutionResults{Success: true, StartTime: at(2), EndTime: at(3), Affected: 1, Witnesses: "The pod of the Job reported that the target was changed."}
	x.Status.After = &remediationv1.Footprint{Hash: "after"}
	x.Status.Conditions = []metav1.Condition{{Type: fsm.Ready, Status: metav1.ConditionTrue, Reason: "ExecutionCompletedPermanent", Message: "The action is done."}}
	return x
}

func approval() *remediationv1.ExecutionApproval {
	return &remediationv1.ExecutionApproval{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "yes", UID: "a1", CreationTimestamp: *at(2)},
		Spec: remediationv1.ExecutionApprovalSpec{
			ExecutionRef: remediationv1.ExecutionRef{Name: "more", UID: "x1"}, PlanDigest: "d1", Decision: remediationv1.Approved,
			Reason: "The sale begins at noon.", Approver: &meta.Requester{Username: "olga"}, ValidUntil: at(59),
		},
	}
}

// TestBodies: what is recorded, to the letter. A body that is made otherwise by another version would not be found again.
func TestBodies(t *testing.T) {
	for name, make := range map[string]func() (string, error){
		"intent":   func() (string, error) { return IntentOf(begun()) },
		"outcome":  func() (string, error) { return OutcomeOf(ended()) },
		"decision": func() (string, error) { return DecisionOf(approval()) },
	} {
		body, err := make()
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(filepath.Join("testdata", name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), body+"\n"); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestAnIntentStaysAsItWas: an intent that is recorded late, from the status of the end, has the same body.
func TestAnIntentStaysAsItWas(t *testing.T) {
	before, err := IntentOf(begun())
	if err != nil {
		t.Fatal(err)
	}
	after, err := IntentOf(ended())
	if err != nil || before != after {
		t.Error(cmp.Diff(before, after), err)
	}
}

// TestSpacesOfParametersAreNotRecorded: the API server and its caches may print one value in two ways.
func TestSpacesOfParametersAreNotRecorded(t *testing.T) {
	x, y := begun(), begun()
	y.Spec.Parameters["data"] = apiextensionsv1.JSON{Raw: []byte(`{"a":9007199254740993,"b":"\u003cb\u003e"}`)}
	one, err := IntentOf(x)
	if err != nil {
		t.Fatal(err)
	}
	if other, err := IntentOf(y); err != nil || one != other {
		t.Error(cmp.Diff(one, other), err)
	}
}

func TestWithoutAPlanThereIsNoIntent(t *testing.T) {
	for name, lose := range map[string]func(*remediationv1.KubernetesExecution){
		"the plan": func(x *remediationv1.KubernetesExecution) { x.Status.Plan = nil },
		"the Job":  func(x *remediationv1.KubernetesExecution) { x.Status.JobUID = "" },
	} {
		x := begun()
		lose(x)
		if _, err := IntentOf(x); err == nil {
			t.Errorf("an intent without %s", name)
		}
	}
}
