package observe

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/remediation/brake"
	"github.com/statecraft-dev/statecraft/internal/remediation/execution"
)

// at is half past an hour: the window of an hour is in two hours of the indexes.
var at = time.Unix(1_700_000_000, 0).UTC().Truncate(time.Hour).Add(30 * time.Minute)

// ended is an execution that was released and ended so long ago.
func ended(name string, ago time.Duration, effect remediationv1.Effect, reason fsm.Reason) *remediationv1.KubernetesExecution {
	then := metav1.NewTime(at.Add(-ago))
	x := &remediationv1.KubernetesExecution{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID(name)}}
	x.Spec.Action = "scale_deployment"
	x.Status.Phase, x.Status.Reason, x.Status.Effect = execution.Failed, reason, effect
	if reason == execution.ReasonCompleted {
		x.Status.Phase = execution.Completed
	}
	x.Status.Plan = &remediationv1.Plan{Target: remediationv1.PlannedTarget{UID: "t1"}}
	x.Status.CompletionTimestamp = &then
	if effect != remediationv1.EffectNone {
		x.Status.ReleasedAt, x.Status.ExecutionResults = &then, &remediationv1.ExecutionResults{EndTime: &then}
	}
	return x
}

// TestWhatTheBrakesSee of one execution: what was never released neither failed nor changed anything.
func TestWhatTheBrakesSee(t *testing.T) {
	type seen struct{ released, changed, failed bool }
	for name, tc := range map[string]struct {
		effect remediationv1.Effect
		reason fsm.Reason
		want   seen
	}{
		"it was carried out":                    {remediationv1.EffectApplied, execution.ReasonCompleted, seen{released: true, changed: true}},
		"its postcondition does not hold":       {remediationv1.EffectApplied, execution.ReasonPostconditionFailed, seen{true, true, true}},
		"it was taken back":                     {remediationv1.EffectApplied, execution.ReasonRolledBack, seen{released: true, changed: true}},
		"it failed and changed nothing":         {remediationv1.EffectNotApplied, execution.ReasonExecutionFailed, seen{released: true, failed: true}},
		"no witness says what it did":           {remediationv1.EffectUnknown, execution.ReasonOutcomeUnknown, seen{released: true, failed: true}},
		"it was held until it was given up":     {remediationv1.EffectNone, fsm.Reason(execution.StartTimeout), seen{}},
		"its Job was held until it was deleted": {remediationv1.EffectNone, execution.ReasonExecutionTimeout, seen{}},
		"it was invalid":                        {remediationv1.EffectNone, execution.ReasonInvalid, seen{}},
		"it was rejected":                       {remediationv1.EffectNone, execution.ReasonRejected, seen{}},
		"it was cancelled":                      {remediationv1.EffectNone, execution.ReasonCancelled, seen{}},
		"the policy denies it":                  {remediationv1.EffectNone, execution.ReasonPolicyDenied, seen{}},
	} {
		r := runOf(ended("x1", time.Minute, tc.effect, tc.reason))
		if got := (seen{!r.ReleasedAt.IsZero(), !r.ChangedAt.IsZero(), !r.FailedAt.IsZero()}); got != tc.want {
			t.Errorf("%s: %+v, want %+v", name, got, tc.want)
		}
	}
	running := ended("x1", time.Minute, remediationv1.EffectStarted, "")
	running.Status.Phase = execution.Executing
	if r := runOf(running); r.ReleasedAt.IsZero() || !r.ChangedAt.IsZero() || !r.FailedAt.IsZero() {
		t.Errorf("it runs: %+v", r)
	}
}

// reader has executions, and the indexes of the area.
func reader(t *testing.T, all ...*remediationv1.KubernetesExecution) client.Reader {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := remediationv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	b := fake.NewClientBuilder().WithScheme(scheme)
	for name, key := range map[string]func(*remediationv1.KubernetesExecution) string{
		ByRelease: HourOfRelease, ByFailure: HourOfFailure,
		ByTarget: func(x *remediationv1.KubernetesExecution) string { return string(x.Status.Plan.Target.UID) },
	} {
		b.WithIndex(&remediationv1.KubernetesExecution{}, name, func(obj client.Object) []string {
			return []string{key(obj.(*remediationv1.KubernetesExecution))}
		})
	}
	for _, x := range all {
		b.WithObjects(x)
	}
	return b.Build()
}

// TestBrakesAreReadFromExecutions, by the hours of their windows; and what hangs on one execution alone is read live.
func TestBrakesAreReadFromExecutions(t *testing.T) {
	us := ended("us", 0, remediationv1.EffectNone, "")
	us.Status.Phase, us.Status.CompletionTimestamp = execution.Validated, nil
	done := ended("done", 10*time.Second, remediationv1.EffectApplied, execution.ReasonCompleted)
	under := done.DeepCopy()
	under.Status.Phase, under.Status.Effect, under.Status.ExecutionResults, under.Status.CompletionTimestamp = execution.Executing, remediationv1.EffectStarted, nil, nil
	failed := func(name string, ago time.Duration) *remediationv1.KubernetesExecution {
		x := ended(name, ago, remediationv1.EffectNotApplied, execution.ReasonExecutionFailed)
		x.Status.Plan.Target.UID = "t2"
		return x
	}
	elsewhere := failed("elsewhere", time.Minute)
	elsewhere.Namespace = "till"
	limits := brake.Limits{Cooldown: time.Minute, PerNamespace: 2, Failures: 1, Window: 50 * time.Minute}
	type held struct{ storm, rate, cooldown bool }
	for name, tc := range map[string]struct {
		cached, live []*remediationv1.KubernetesExecution
		want         held
	}{
		"there are none":                                 {},
		"one was released":                               {cached: []*remediationv1.KubernetesExecution{failed("a", time.Minute)}},
		"two failed, one in the hour before":             {cached: []*remediationv1.KubernetesExecution{failed("a", time.Minute), failed("b", 45*time.Minute)}, want: held{storm: true, rate: true}},
		"two failed in two namespaces":                   {cached: []*remediationv1.KubernetesExecution{failed("a", time.Minute), elsewhere}, want: held{storm: true}},
		"two were released, and fail no more":            {cached: []*remediationv1.KubernetesExecution{failed("a", time.Minute), failed("b", 55*time.Minute)}, want: held{rate: true}},
		"the same was done":                              {cached: []*remediationv1.KubernetesExecution{done}, want: held{cooldown: true}},
		"the same was done, and the cache is late":       {cached: []*remediationv1.KubernetesExecution{under}, live: []*remediationv1.KubernetesExecution{done}, want: held{cooldown: true}},
		"the same is under way, and has changed nothing": {cached: []*remediationv1.KubernetesExecution{under}, live: []*remediationv1.KubernetesExecution{under}},
	} {
		o := Brakes{Cached: reader(t, tc.cached...), Live: read.Live{Reader: reader(t, tc.live...)}, Limits: limits, Now: func() time.Time { return at }}
		b, err := o.look(t.Context(), us)
		if got := (held{b.Storm != nil, b.Rate != nil, b.Cooldown != nil}); got != tc.want || err != nil {
			t.Errorf("%s: %+v, want %+v: %v", name, got, tc.want, err)
		}
	}
	us.Status.Plan = nil
	if b, err := (Brakes{}).look(t.Context(), us); b != (brake.Brakes{}) || err != nil {
		t.Errorf("an execution without a plan is held: %+v, %v", b, err)
	}
}
