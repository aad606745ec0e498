package observe

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/remediation/execution"
	"github.com/statecraft-dev/statecraft/internal/remediation/policy"
	"github.com/statecraft-dev/statecraft/internal/reserve"
)

// forbidden reads nothing.
type forbidden struct{ client.Reader }

func (forbidden) Get(_ context.Context, key client.ObjectKey, _ client.Object, _ ...client.GetOption) error {
	return apierrors.NewForbidden(schema.GroupResource{Resource: "deployments"}, key.Name, nil)
}

// stored is a server that has these objects.
func stored(t *testing.T, objects ...client.Object) client.Client {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, remediationv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build()
}

// TestNothingIsBegunInANamespaceThatIsDeleted: the account of the action is deleted with it, and cannot be made again. An
// execution that waited for one would keep the namespace until its start deadline.
func TestNothingIsBegunInANamespaceThatIsDeleted(t *testing.T) {
	x := &remediationv1.KubernetesExecution{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "more", UID: "x1"}}
	x.Spec.Action, x.Spec.Target = "scale_deployment", remediationv1.TargetRef{Kind: "Deployment", Name: "web"}
	x.Spec.Parameters = map[string]apiextensionsv1.JSON{"replicas": {Raw: []byte("5")}}
	x.Status.Phase = execution.Executing
	def := &remediationv1.ActionDefinition{ObjectMeta: metav1.ObjectMeta{Name: "scale-deployment", UID: "a1"}, Spec: remediationv1.ActionDefinitionSpec{
		Builtin: "scale_deployment", TargetKinds: []remediationv1.TargetKind{{Group: "apps", Version: "v1", Kind: "Deployment", Resource: "deployments"}},
		Parameters: []remediationv1.Parameter{{Name: "replicas", Type: remediationv1.TypeInteger, Required: true}},
	}}
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop", Labels: map[string]string{remediationv1.EnabledLabel: "true"}}}
	for outcome, change := range map[execution.Outcome]func(*corev1.Namespace){
		execution.Waiting: func(*corev1.Namespace) {}, // for its account
		execution.Refused: func(ns *corev1.Namespace) {
			ns.DeletionTimestamp, ns.Finalizers = &metav1.Time{Time: time.Unix(1, 0)}, []string{"kubernetes"}
		},
	} {
		is := ns.DeepCopy()
		change(is)
		c := stored(t, is, x.DeepCopy(), def.DeepCopy())
		look, err := Looker{Live: read.Live{Reader: c}, Cached: c}.Take(t.Context(), read.Key{Namespace: "shop", Name: "more"})
		if err != nil || look.Outcome != outcome || look.NeedsAccount != (outcome == execution.Waiting) {
			t.Errorf("%s: %+v, %v", outcome, look, err)
		}
	}
}

// TestTheTokenIsFoundWithoutTheAction: while the Job runs, the action is removed from the catalogue, and its account with it.
func TestTheTokenIsFoundWithoutTheAction(t *testing.T) {
	x := &remediationv1.KubernetesExecution{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "more", UID: "x1"}}
	x.Spec.Action, x.Spec.Target = "scale_deployment", remediationv1.TargetRef{Kind: "Deployment", Name: "web"}
	x.Status.Phase, x.Status.JobUID = execution.Executing, "job"
	x.Status.Plan = &remediationv1.Plan{Target: remediationv1.PlannedTarget{APIVersion: "apps/v1", Kind: "Deployment", Name: "web", UID: "t1"}}
	web := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "t1", Annotations: map[string]string{remediationv1.TokenAnnotation: "x1/done"}}}
	enabled := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop", Labels: map[string]string{remediationv1.EnabledLabel: "true"}}}
	c := stored(t, enabled, x, web)
	l := Looker{
		Live: read.Live{Reader: c}, Cached: c,
		As: func(string, string) (read.Live, error) { return read.Live{Reader: forbidden{c}}, nil },
		Reserves: func(_ context.Context, target *unstructured.Unstructured) (reserve.Ref, error) {
			return reserve.RefOf(target.GroupVersionKind().GroupKind(), target), nil
		},
	}
	look, err := l.Take(t.Context(), read.Key{Namespace: "shop", Name: "more"})
	if err != nil || !look.Token || look.Reserves.UID != "t1" || look.Outcome != execution.Refused {
		t.Errorf("%+v, %v", look, err)
	}
}

// indexed refuses to list executions by their namespace alone, which keeps those of months.
type indexed struct{ client.Reader }

func (r indexed) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	o := (&client.ListOptions{}).ApplyOptions(opts)
	if o.FieldSelector == nil || o.FieldSelector.Empty() {
		return errors.New("lists all executions of a namespace")
	}
	return r.Reader.List(ctx, list, opts...)
}

// TestALookListsByIndex: a policy is told of the executions on the target and of those that run beside it.
func TestALookListsByIndex(t *testing.T) {
	on := func(name, target string, phase fsm.Phase, ended time.Duration) *remediationv1.KubernetesExecution {
		x := &remediationv1.KubernetesExecution{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID(name)}}
		x.Spec.Target, x.Status.Phase = remediationv1.TargetRef{Kind: "Deployment", Name: target}, phase
		if ended > 0 {
			x.Status.ExecutionResults = &remediationv1.ExecutionResults{EndTime: &metav1.Time{Time: at.Add(-ended)}}
		}
		return x
	}
	us := on("us", "web", execution.Executing, 0)
	elsewhere := on("elsewhere", "web", execution.Executing, 0)
	elsewhere.Namespace = "till"
	b := fake.NewClientBuilder().WithScheme(stored(t).Scheme()).WithObjects(us, elsewhere,
		on("beside", "web", execution.Executing, 0), on("other", "till", execution.Executing, 0), on("waits", "web", execution.WaitingApproval, 0),
		on("long-ago", "web", execution.Completed, time.Hour), on("lately", "web", execution.Failed, time.Minute), on("another", "till", execution.Completed, time.Second))
	for name, key := range map[string]func(*remediationv1.KubernetesExecution) string{ByExecuting: IfExecuting, ByTargetName: TargetName} {
		b.WithIndex(&remediationv1.KubernetesExecution{}, name, func(obj client.Object) []string { return []string{key(obj.(*remediationv1.KubernetesExecution))} })
	}
	is, err := Looker{Cached: indexed{b.Build()}}.executions(t.Context(), us)
	want := policy.Executions{InNamespace: 2, OnTarget: 1, LastEnd: at.Add(-time.Minute).UTC().Format(time.RFC3339)}
	if err != nil || is != want {
		t.Errorf("%+v, want %+v; %v", is, want, err)
	}
}

// TestALookThatFailsSaysAtWhat, also beside one that succeeded before.
func TestALookThatFailsSaysAtWhat(t *testing.T) {
	x := &remediationv1.KubernetesExecution{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "more", UID: "x1"}}
	x.Status.Phase = execution.Validating
	looks := samples{Value: execution.Look{UID: "x1", Outcome: execution.Planned}, At: at, Err: fmt.Errorf("ask the policy pack: %w", errors.New("attempt 17"))}
	w := execution.World{}
	if taken := (Execution{Looks: looks, Now: func() time.Time { return at }}).look(t.Context(), x, &w); taken.Err == nil || w.Look.Outcome != execution.Planned || w.Look.Trouble != "ask the policy pack" {
		t.Errorf("%+v", w.Look)
	}
	looks.At, w = time.Time{}, execution.World{}
	if taken := (Execution{Looks: looks, Now: func() time.Time { return at }}).look(t.Context(), x, &w); !taken.At.IsZero() || w.Look.Outcome != "" || w.Look.Trouble != "ask the policy pack" {
		t.Errorf("%+v", w.Look)
	}
}

// samples are always the same.
type samples read.Sample[execution.Look]

func (s samples) Last(read.Key) read.Sample[execution.Look] { return read.Sample[execution.Look](s) }

func (s samples) Fresh(context.Context, read.Key, time.Duration) read.Sample[execution.Look] {
	return read.Sample[execution.Look](s)
}
