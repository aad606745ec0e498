package plan

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/presence"
	"github.com/statecraft-dev/statecraft/internal/remediation/action"
	"github.com/statecraft-dev/statecraft/internal/remediation/execution"
	"github.com/statecraft-dev/statecraft/internal/remediation/policy"
	"github.com/statecraft-dev/statecraft/internal/reserve"
)

// scaling is an execution that scales web to 5.
func scaling() *remediationv1.KubernetesExecution {
	return &remediationv1.KubernetesExecution{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "more", UID: "x1"},
		Spec: remediationv1.KubernetesExecutionSpec{
			Action: "scale_deployment", Target: remediationv1.TargetRef{Kind: "Deployment", Name: "web"}, Parameters: replicas("5"),
			FinalizeAfterSeconds: 300,
		},
	}
}

func replicas(n string) map[string]apiextensionsv1.JSON {
	return map[string]apiextensionsv1.JSON{"replicas": {Raw: []byte(n)}}
}

// definition is that of scale_deployment, which takes itself back.
func definition() *remediationv1.ActionDefinition {
	return &remediationv1.ActionDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "scale-deployment", UID: "a1"},
		Spec: remediationv1.ActionDefinitionSpec{
			Builtin: "scale_deployment", Inverse: "scale_deployment", Risk: "Medium",
			TargetKinds: []remediationv1.TargetKind{{Group: "apps", Version: "v1", Kind: "Deployment", Resource: "deployments"}},
			Parameters:  []remediationv1.Parameter{{Name: "replicas", Type: remediationv1.TypeInteger, Required: true}},
		},
	}
}

// web is a Deployment of 2 replicas.
func web() map[string]any {
	return map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment",
		"metadata": map[string]any{"namespace": "shop", "name": "web", "uid": "t1", "resourceVersion": "8"},
		"spec":     map[string]any{"replicas": int64(2), "template": map[string]any{"spec": map[string]any{}}},
	}
}

// steps are what a look does on the way to a plan, which a test changes one by one.
type steps struct {
	x          *remediationv1.KubernetesExecution
	definition *remediationv1.ActionDefinition
	inverse    *remediationv1.ActionDefinition
	original   *remediationv1.KubernetesExecution
	others     []remediationv1.KubernetesExecution // that there are besides
	reply      policy.Reply
}

func ordinary() steps {
	return steps{x: scaling(), definition: definition(), inverse: definition(), reply: policy.Reply{Answer: policy.Answer{Allow: true}}}
}

func (s steps) take() execution.Look {
	d := New(s.x, "statecraft-system", "image")
	d.Namespace(map[string]string{remediationv1.EnabledLabel: "true"}, false)
	d.Define(sightOf(s.definition), s.definition)
	d.DefineInverse(sightOf(s.inverse), s.inverse)
	d.Account(presence.Here, presence.Here)
	if s.original != nil {
		d.Rollback(presence.Here, s.original, now)
		d.TakenBackBy(s.others)
	}
	d.Target(presence.Here, web(), reserve.Ref{UID: "t1"})
	if !d.Stopped() {
		d.Decided("p1", s.reply, false)
	}
	return d.Look()
}

func sightOf(def *remediationv1.ActionDefinition) presence.State {
	if def == nil {
		return presence.Gone
	}
	return presence.Here
}

var now = time.Unix(1_700_000_000, 0)

// TestTheWayBackIsChecked by the definition of the action that takes the plan back, before a person approves it.
func TestTheWayBackIsChecked(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*steps)
		caveat string // "" is that there is a way back
	}{
		"the catalogue has it":   {change: func(*steps) {}},
		"it is not defined":      {func(s *steps) { s.inverse = nil }, "It cannot be taken back: there is no ActionDefinition scale-deployment."},
		"it does something else": {func(s *steps) { s.inverse.Spec.Builtin = "rollout_restart" }, "It cannot be taken back: action scale_deployment does not do what would take it back, which is scale_deployment."},
		"it takes another kind":  {func(s *steps) { s.inverse.Spec.TargetKinds[0].Kind = "StatefulSet" }, "It cannot be taken back: action scale_deployment does not take a Deployment."},
		"it takes another group": {func(s *steps) { s.inverse.Spec.TargetKinds[0].Group = "extensions" }, "It cannot be taken back: action scale_deployment does not take a Deployment."},
		"it has narrower bounds": {func(s *steps) { s.inverse.Spec.Parameters[0].Minimum = new(int64(3)) }, "It cannot be taken back: action scale_deployment refuses its parameters. Parameter replicas is 2, and 3 is the least."},
		"it takes another name":  {func(s *steps) { s.inverse.Spec.Parameters[0].Name = "count" }, `It cannot be taken back: action scale_deployment refuses its parameters. Parameter "replicas" is unknown; the action takes: count.`},
		"it requires one more": {func(s *steps) {
			s.inverse.Spec.Parameters = append(s.inverse.Spec.Parameters, remediationv1.Parameter{Name: "why", Type: remediationv1.TypeString, Required: true})
		}, "It cannot be taken back: action scale_deployment refuses its parameters. Parameter why is required."},
		"nothing can take it back": {func(s *steps) {
			s.definition.Spec.Builtin, s.definition.Spec.Parameters, s.x.Spec.Parameters = "rollout_restart", nil, nil
		}, "A restart cannot be taken back."},
	} {
		s := ordinary()
		tc.change(&s)
		l := s.take()
		if l.Outcome != execution.Planned {
			t.Errorf("%s: %s %s", name, l.Outcome, l.Message)
			continue
		}
		want := &remediationv1.Inverse{Action: "scale_deployment", Parameters: replicas("2"), Definition: "a1"}
		if tc.caveat != "" {
			want = nil
		}
		if diff := cmp.Diff(want, l.Plan.Inverse); diff != "" || l.Plan.Caveat != tc.caveat {
			t.Errorf("%s: %q, want %q; %s", name, l.Plan.Caveat, tc.caveat, diff)
		}
	}
}

// TestAnInverseThatIsDefinedAnewIsAnotherPlan, which the approval of the former does not cover.
func TestAnInverseThatIsDefinedAnewIsAnotherPlan(t *testing.T) {
	s := ordinary()
	before := s.take().Plan.Digest
	s.inverse.UID = "a2"
	if s.take().Plan.Digest == before {
		t.Error("the plan is the same")
	}
}

// TestARollbackIsCovered by the approval of what it takes back, unless the action was defined anew since.
func TestARollbackIsCovered(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*steps)
		covers string
		says   string
	}{
		"as it was approved":                   {func(*steps) {}, "olga", ""},
		"its action was defined anew":          {func(s *steps) { s.definition.UID = "a2" }, "", ""},
		"it was planned without a definition":  {func(s *steps) { s.original.Status.Plan.Inverse.Definition = "" }, "", ""},
		"the original has no plan any more":    {func(s *steps) { s.original.Status.Plan = nil }, "", ""},
		"the approval was of the action alone": {func(s *steps) { s.original.Status.ApprovalReceived.IncludesRollback = false }, "", ""},
		"the approver asks for it":             {func(s *steps) { s.x.Spec.Requester = &meta.Requester{Username: "olga"} }, "", ""},
		"a bot asks for it":                    {func(s *steps) { s.x.Spec.Requester = &meta.Requester{Username: "system:serviceaccount:shop:bot"} }, "", ""},
		"the same bot asked for both": {func(s *steps) {
			s.x.Spec.Requester = &meta.Requester{Username: "system:serviceaccount:shop:bot"}
			s.original.Spec.Requester = s.x.Spec.Requester
		}, "olga", ""},
		"another one has done it":  {func(s *steps) { s.others = rollbacks("x9", "x0", remediationv1.EffectApplied) }, "", ""},
		"another one is doing it":  {func(s *steps) { s.others = rollbacks("x9", "x0", remediationv1.EffectStarted) }, "", ""},
		"another one may have":     {func(s *steps) { s.others = rollbacks("x9", "x0", remediationv1.EffectUnknown) }, "", ""},
		"another one failed":       {func(s *steps) { s.others = rollbacks("x9", "x0", remediationv1.EffectNotApplied) }, "olga", ""},
		"another one waits":        {func(s *steps) { s.others = rollbacks("x9", "x0", "") }, "olga", ""},
		"another one took another": {func(s *steps) { s.others = rollbacks("x9", "x8", remediationv1.EffectApplied) }, "olga", ""},
		"it is doing it itself":    {func(s *steps) { s.others = rollbacks("x1", "x0", remediationv1.EffectStarted) }, "olga", ""},

		"its action is gone":                {func(s *steps) { s.definition = nil }, "", "There is no ActionDefinition scale-deployment, so the action scale_deployment does not exist."},
		"its action takes another kind now": {func(s *steps) { s.definition.Spec.TargetKinds[0].Kind = "StatefulSet" }, "", "Action scale_deployment does not take a Deployment."},
		"its action takes less now":         {func(s *steps) { s.definition.Spec.Parameters[0].Maximum = new(int64(1)) }, "", "Parameter replicas is 5, and 1 is the most."},
	} {
		s := ordinary()
		s.x.Spec.RollbackOf = &remediationv1.ExecutionRef{Name: "before", UID: "x0"}
		s.original = takenBack()
		tc.change(&s)
		l := s.take()
		if l.Covered != tc.covers || l.Message != tc.says {
			t.Errorf("%s: covered by %q, %q", name, l.Covered, l.Message)
		}
	}
}

// rollbacks is one execution that takes another one back, and how far it is.
func rollbacks(uid, of types.UID, effect remediationv1.Effect) []remediationv1.KubernetesExecution {
	x := remediationv1.KubernetesExecution{ObjectMeta: metav1.ObjectMeta{UID: uid}}
	x.Spec.RollbackOf, x.Status.Effect = &remediationv1.ExecutionRef{UID: of}, effect
	return []remediationv1.KubernetesExecution{x}
}

// takenBack is an execution that scaled web from 5 to 2, and whose rollback scales it to 5 again.
func takenBack() *remediationv1.KubernetesExecution {
	f, err := action.ReadOf("scale_deployment", web(), action.Params{"replicas": int64(5)})
	if err != nil {
		panic(err) // the target is a Deployment
	}
	x := scaling()
	x.Name, x.UID = "before", "x0"
	x.Status.Phase, x.Status.Since = execution.RollbackReady, metav1.NewTime(now.Add(-time.Minute))
	x.Status.Plan = &remediationv1.Plan{Inverse: &remediationv1.Inverse{Action: "scale_deployment", Parameters: replicas("5"), Definition: "a1"}}
	x.Status.ApprovalReceived = &remediationv1.ApprovalReceived{Approver: "olga", IncludesRollback: true}
	x.Status.After = &remediationv1.Footprint{Hash: f.Hash}
	x.Status.RollbackInformation = &remediationv1.RollbackInformation{Available: true, RollbackAction: "scale_deployment", RollbackParameters: replicas("5"), Target: "t1"}
	return x
}

// TestTheTokenIsFoundWithoutTheAction: an action that was removed from the catalogue while its Job ran has left its token.
func TestTheTokenIsFoundWithoutTheAction(t *testing.T) {
	x := scaling()
	x.Status.JobUID = "job"
	x.Status.Plan = &remediationv1.Plan{Target: remediationv1.PlannedTarget{APIVersion: "apps/v1", Kind: "Deployment", Name: "web", UID: "t1"}}
	d := New(x, "statecraft-system", "image")
	d.Define(presence.Gone, &remediationv1.ActionDefinition{})
	if want := (remediationv1.TargetKind{Group: "apps", Version: "v1", Kind: "Deployment"}); d.Kind() != want {
		t.Fatalf("the target is looked for as a %+v", d.Kind())
	}
	target := web()
	target["metadata"].(map[string]any)["annotations"] = map[string]any{remediationv1.TokenAnnotation: "x1/done"}
	d.Target(presence.Here, target, reserve.Ref{UID: "t1"})
	d.Decided("p1", policy.Reply{}, true)
	q := d.Question(policy.Pack{}, Surroundings{}, true)
	if l := d.Look(); !l.Token || l.Reserves.UID != "t1" || q.Input.Request.Target.Gone {
		t.Errorf("token %t, reserves %v, gone %t", l.Token, l.Reserves, q.Input.Request.Target.Gone)
	}
	x.Status.JobUID = ""
	if d := New(x, "statecraft-system", "image"); d.Kind().Kind != "" {
		t.Error("an execution that has released nothing needs the definition of its action")
	}
}

// TestWhatThePolicySays is said in whole sentences, each thing once.
func TestWhatThePolicySays(t *testing.T) {
	for name, tc := range map[string]struct {
		reply   policy.Reply
		outcome execution.Outcome
		want    string
	}{
		"it denies": {policy.Reply{Answer: policy.Answer{Reasons: []string{"namespace kube-system is protected"}}}, execution.Refused,
			"The policy does not allow it: namespace kube-system is protected."},
		"it denies without a word": {policy.Reply{}, execution.Refused, "The policy does not allow it, and gives no reason."},
		"it has no answer": {policy.Reply{Problem: "The policy pack cannot decide: allow must be true or false, and is a string."}, execution.Refused,
			"The policy pack cannot decide: allow must be true or false, and is a string. Without an answer the execution is denied."},
		"it does not compile": {policy.Reply{InvalidPack: true, Problem: "The policy pack does not compile: rules/a.rego:3: unexpected token."}, execution.Waiting,
			"The policy pack does not compile: rules/a.rego:3: unexpected token. Waiting for an administrator to mend that ConfigMap in namespace statecraft-system."},
	} {
		s := ordinary()
		s.reply = tc.reply
		if l := s.take(); l.Outcome != tc.outcome || l.Message != tc.want {
			t.Errorf("%s: %s %q", name, l.Outcome, l.Message)
		}
	}
}

// TestParametersOfConditionsAreBounded: the policy pack is asked with them.
func TestParametersOfConditionsAreBounded(t *testing.T) {
	s := ordinary()
	s.x.Spec.PostConditions = []remediationv1.Condition{{Name: "calm", Parameters: map[string]apiextensionsv1.JSON{
		"a": {Raw: []byte(`"` + strings.Repeat("x", 1<<20) + `"`)},
	}}}
	if l := s.take(); l.Outcome != execution.Refused || l.Message != "The parameters of condition calm take more than 4096 bytes." {
		t.Errorf("%s %q", l.Outcome, l.Message)
	}
}
