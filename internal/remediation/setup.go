// Package remediation wires the controllers of area remediation.
package remediation

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/guard"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/remediation/act"
	"github.com/statecraft-dev/statecraft/internal/remediation/execution"
	"github.com/statecraft-dev/statecraft/internal/remediation/observe"
	"github.com/statecraft-dev/statecraft/internal/remediation/request"
	"github.com/statecraft-dev/statecraft/internal/reserve"
)

// What the area may do. What it may do with the rights of actions is in config/rbac/remediation/actions.yaml.
//
// +kubebuilder:rbac:groups=remediation.statecraft.dev,resources=kubernetesexecutions,verbs=get;list;watch;patch;delete
// +kubebuilder:rbac:groups=remediation.statecraft.dev,resources=kubernetesexecutions/status,verbs=patch
// +kubebuilder:rbac:groups=remediation.statecraft.dev,resources=kubernetesexecutions/finalizers,verbs=update
// +kubebuilder:rbac:groups=remediation.statecraft.dev,resources=executionapprovals,verbs=get;list;watch;delete
// +kubebuilder:rbac:groups=remediation.statecraft.dev,resources=actiondefinitions,verbs=get
// +kubebuilder:rbac:groups=remediation.statecraft.dev,resources=actiondefinitions/finalizers,verbs=update
// +kubebuilder:rbac:groups=batch,resources=jobs,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=pods,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups="",resources=namespaces,verbs=get
// +kubebuilder:rbac:groups="",resources=serviceaccounts,verbs=get;create
// +kubebuilder:rbac:groups=rbac.authorization.k8s.io,resources=rolebindings,verbs=get;create
// +kubebuilder:rbac:groups=authorization.k8s.io,resources=subjectaccessreviews,verbs=create
// +kubebuilder:rbac:groups=authentication.k8s.io,resources=selfsubjectreviews,verbs=create
// +kubebuilder:rbac:groups=admissionregistration.k8s.io,resources=validatingadmissionpolicies;validatingadmissionpolicybindings,verbs=list
// +kubebuilder:rbac:groups="",namespace=statecraft-system,resources=configmaps,verbs=list;create
// +kubebuilder:rbac:groups="",namespace=statecraft-system,resources=configmaps,resourceNames=statecraft-remediation;statecraft-remediation-policies,verbs=get
// +kubebuilder:rbac:groups="",namespace=statecraft-system,resources=configmaps,resourceNames=statecraft-remediation-policies,verbs=delete
// +kubebuilder:rbac:groups=coordination.k8s.io,namespace=statecraft-system,resources=leases,verbs=get;list;watch;create;update;delete
// +kubebuilder:rbac:groups=apps,resources=deployments;replicasets;statefulsets;daemonsets,verbs=get
// +kubebuilder:rbac:groups=valkey.statecraft.dev,resources=valkeyclusters;valkeyupgrades,verbs=get

// account of the area's manager.
const account = "statecraft-remediation"

// Area is area remediation.
func Area(c Config, evaluator observe.Evaluator) kube.AreaSetup {
	return kube.AreaSetup{
		Name: "remediation", AddToScheme: remediationv1.AddToScheme, Kinds: Kinds(),
		Reserves: []schema.GroupKind{kube.AnyKind}, Caches: Caches(),
		Setup: func(a *kube.Area) error { return setup(a, c, evaluator) },
	}
}

// Kinds are those that have a machine in the area.
func Kinds() []kube.Kind {
	return []kube.Kind{kube.KindOf(remediationv1.GroupName, &execution.Machine), kube.KindOf(remediationv1.GroupName, &request.Machine)}
}

// Looks is the sampler of looks at targets.
type Looks = kube.Sampler[execution.Look]

// Ports lead to what is outside of the API server, and act with the rights of others.
type Ports struct {
	As        func(namespace, account string) (read.Live, error)
	Try       read.DryRun
	Evaluator observe.Evaluator
}

// NewLooker builds what looks at targets with the rights of actions.
func NewLooker(e kube.Env, c Config, p Ports) observe.Looker {
	return observe.Looker{
		Live: e.LiveReader(), Cached: e.Cached(), May: e.May(), As: p.As, Try: p.Try, Evaluator: p.Evaluator,
		Pack:      observe.Packs{Live: e.LiveReader(), Namespace: e.Namespace}.Read,
		Namespace: e.Namespace, Image: c.ActionImage, Now: e.Now,
		Reserves: func(ctx context.Context, target *unstructured.Unstructured) (reserve.Ref, error) {
			return reserves(ctx, e, target)
		},
	}
}

// NewLooks builds the sampler that the controller of executions reads.
func NewLooks(e kube.Env, looker observe.Looker, wake func(read.Key)) *Looks {
	return &Looks{Take: looker.Take, Same: observe.Same, Wake: wake, Now: e.Now}
}

// reserves finds what is reserved for a target. An owner that the manager may not read is none of our kinds. What ends is no owner
// of a target: anyone who may patch the target could name an execution of his as its controller, and so free it.
func reserves(ctx context.Context, e kube.Env, target *unstructured.Unstructured) (reserve.Ref, error) {
	var kinds []schema.GroupKind
	for _, k := range e.Kinds {
		if !k.OneShot {
			kinds = append(kinds, k.GroupKind)
		}
	}
	ref, err := e.LiveReader().TargetOf(ctx, target, kinds)
	if apierrors.IsForbidden(err) {
		return reserve.RefOf(target.GroupVersionKind().GroupKind(), target), nil
	}
	return ref, err
}

// newGates builds what looks at policies and identity, for executions and requests alike.
func newGates(e kube.Env) (gates observe.Gates, policies func(context.Context) (guard.Verdict, error), err error) {
	shipped, err := e.Policies("remediation")
	if err != nil {
		return gates, nil, fmt.Errorf("read the admission policies that are shipped: %w", err)
	}
	identity := &observe.Identity{Who: e.Self, Account: "system:serviceaccount:" + e.Namespace + ":" + account, Now: e.Now}
	return observe.Gates{Live: e.LiveReader(), Namespace: e.Namespace, Policies: shipped.Look, Identity: identity.Look}, shipped.Look, nil
}

// NewExecution builds the controller of KubernetesExecutions.
func NewExecution(e kube.Env, c Config, looks *Looks, records *Audit) (*kube.Reconciler[*remediationv1.KubernetesExecution, execution.World], error) {
	gates, policies, err := newGates(e)
	if err != nil {
		return nil, err
	}
	r := kube.NewReconciler(e, &execution.Machine)
	r.Observe = observe.Execution{
		Cached: e.Cached(), Live: e.LiveReader(), Looks: looks, Now: e.Now, Reservations: e.Reservations().Reservations,
		Gates:     gates,
		Brakes:    observe.Brakes{Cached: e.Cached(), Live: e.LiveReader(), Limits: c.Brakes, Now: e.Now},
		Audit:     observe.Audit{Log: records.reads(), Required: c.Audit.Required},
		Decisions: observe.Decisions{Live: e.LiveReader(), May: e.May(), Policies: policies},
	}.Observe
	r.Act = act.Execution{Writer: e.Writer("execution"), Live: e.LiveReader(), Audit: records.appends()}.Act
	r.AfterPass = func(key read.Key, x *remediationv1.KubernetesExecution, found bool) {
		if !found {
			looks.Every(key, 0)
			return
		}
		looks.Every(key, observe.Every(x.Status.Phase))
	}
	return r, nil
}

func setup(a *kube.Area, c Config, evaluator observe.Evaluator) error {
	policies, err := guardPolicy(a, evaluator)
	if err != nil {
		return err
	}
	waker, as := &kube.Waker{}, a.Impersonator()
	looker := NewLooker(a.Env, c, Ports{
		As:  func(namespace, account string) (read.Live, error) { return as.Reader(kube.Account(namespace, account)) },
		Try: as.DryRun(), Evaluator: policies,
	})
	looks := NewLooks(a.Env, looker, waker.Wake)
	if err := a.Run(looks.Start); err != nil {
		return fmt.Errorf("run sampler: %w", err)
	}
	if err := a.Index(Indexes()...); err != nil {
		return err
	}
	if err := kube.WatchPolicies(a, metricUnguarded); err != nil {
		return err
	}
	records, err := setupAudit(a, c.Audit)
	if err != nil {
		return err
	}
	for _, run := range []func(*kube.Area) error{setupCatalogue, sweepPods, resolve, countHeld, expire(c, records)} {
		if err := run(a); err != nil {
			return err
		}
	}
	executions, err := NewExecution(a.Env, c, looks, records)
	if err != nil {
		return err
	}
	if err := kube.Add(a, executions, ExecutionWakes(waker)...); err != nil {
		return err
	}
	return addRequests(a, looker)
}
