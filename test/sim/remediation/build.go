package remediation

import (
	"context"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/remediation"
	"github.com/statecraft-dev/statecraft/internal/remediation/act"
	"github.com/statecraft-dev/statecraft/internal/remediation/policy"
	"github.com/statecraft-dev/statecraft/internal/remediation/policy/policyfake"
	"github.com/statecraft-dev/statecraft/internal/reserve"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/sim"
)

// build builds the controllers of the area, as its setup does.
func (s *story) build(c *sim.Cell) {
	env := c.Env()
	env.Namespace, env.Kinds = harness.SystemNamespace, remediation.Kinds()
	looker := remediation.NewLooker(env, config(), remediation.Ports{
		As: func(namespace, account string) (read.Live, error) {
			as, err := c.As(userName(namespace, account))
			return read.Live{Reader: as}, err
		},
		Try: trying(c), Evaluator: evaluator{c, s.policy},
	})
	looks := remediation.NewLooks(env, looker, c.Wake(executionKind))
	executions, err := remediation.NewExecution(env, config(), looks, nil)
	if err != nil {
		panic(err) // the policies that are shipped cannot be read
	}
	requests, err := remediation.NewRequest(env, looker)
	if err != nil {
		panic(err) // the same
	}
	c.Sample(looks)
	c.Sample(s.sweeps(env))
	c.Sample(s.resolves(env))
	c.Cache(append(remediation.Caches(), kube.ReservationLeases(harness.SystemNamespace))...)
	c.Index(remediation.Indexes()...)
	c.Add(sim.Controller{Reconciler: executions, Kind: executionKind, Echo: executions.Store.Wrote, Wakes: remediation.ExecutionWakes(&kube.Waker{})})
	c.Add(sim.Controller{Reconciler: requests, Kind: requestKind, Echo: requests.Store.Wrote, Wakes: remediation.RequestWakes()})
}

// config is the default but for two brakes: the second execution of a story does the same to the same target, and the failures
// of one story would hold those that are told beside it in other namespaces.
func config() remediation.Config {
	c := remediation.Defaults()
	c.Brakes.Cooldown, c.Brakes.Failures = 0, 0
	return c
}

func userName(namespace, account string) string {
	return "system:serviceaccount:" + namespace + ":" + account
}

// trying sends changes as dry runs, as kube.Impersonator does.
func trying(c *sim.Cell) read.DryRun {
	return func(ctx context.Context, account read.Key, target *unstructured.Unstructured, change read.Trial) (read.Tried, error) {
		as, err := c.As(userName(account.Namespace, account.Name))
		if err != nil {
			return read.Tried{}, err
		}
		err = kube.Try(ctx, as, target, change)
		if apierrors.IsForbidden(err) || apierrors.IsInvalid(err) {
			return read.Tried{Refusal: err.Error()}, nil
		}
		return read.Tried{}, err
	}
}

// evaluator is a policy pack across the boundary.
type evaluator struct {
	cell *sim.Cell
	fake *policyfake.Fake
}

// Evaluate implements observe.Evaluator.
func (e evaluator) Evaluate(ctx context.Context, q policy.Question) (reply policy.Reply, err error) {
	err = e.cell.Call(ctx, "evaluate policy", false, func(ctx context.Context) (func(), error) {
		is, err := e.fake.Evaluate(ctx, q)
		return func() { reply = is }, err
	})
	return reply, err
}

// routineEvery is how often the area looks through what ended executions left, and through marks.
const routineEvery = 5 * time.Second

// routine is something that the area does every so often. While there is nothing to do for it, it is not run: a story may
// wait for hours.
type routine struct {
	world *sim.World
	needs func() bool // makes no call
	look  func(context.Context) error
	due   time.Time
	waits bool // there was something to do when it was last driven
}

// Drive implements sim.Sampler.
func (r *routine) Drive(ctx context.Context) int {
	if r.waits = r.needs(); !r.waits || r.world.Now().Before(r.due) {
		return 0
	}
	r.due = r.world.Now().Add(routineEvery)
	_ = r.look(ctx) // it is repeated
	return 1
}

// Next implements sim.Sampler.
func (r *routine) Next() (time.Time, bool) { return r.due, r.waits }

// sweeps lets pods of ended executions go, and deletes Jobs that they left.
func (s *story) sweeps(env kube.Env) *routine {
	sweeper := act.Sweeper{Writer: env.Writer("sweep"), Cached: inNamespace{env.Cached(), s.world.Namespace}, Live: env.LiveReader()}
	return &routine{world: s.world, look: sweeper.Sweep, needs: func() bool { return s.left() != nil }}
}

// resolves takes marks off targets once they are acknowledged.
func (s *story) resolves(env kube.Env) *routine {
	policies, err := env.Policies(area)
	if err != nil {
		panic(err) // the policies that are shipped cannot be read
	}
	resolver := act.Resolver{
		Live: env.LiveReader(), Cached: ownLeases{inNamespace{env.Cached(), harness.SystemNamespace}, s.world.Namespace}, May: env.May(),
		Policies: policies.Look, Reservations: env.Reservations(), Left: func(int) {},
	}
	return &routine{world: s.world, look: resolver.Resolve, needs: func() bool { m := s.mark(); return m != nil && s.acknowledged[m.By.UID] }}
}

// inNamespace lists what is in one namespace: plans run side by side, and none works on what is another's.
type inNamespace struct {
	read.Reader
	namespace string
}

// List implements read.Reader.
func (r inNamespace) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	return r.Reader.List(ctx, list, append(opts, read.InNamespace(r.namespace))...)
}

// ownLeases lists reservations of targets in one namespace.
type ownLeases struct {
	read.Reader
	namespace string
}

// List implements read.Reader.
func (r ownLeases) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	if err := r.Reader.List(ctx, list, opts...); err != nil {
		return err
	}
	leases, err := apimeta.ExtractList(list)
	if err != nil {
		return err
	}
	var kept []runtime.Object
	for _, lease := range leases {
		target, err := kube.ReservationTarget(lease.(*coordinationv1.Lease))
		if err == nil && target.Namespace == r.namespace {
			kept = append(kept, lease)
		}
	}
	return apimeta.SetList(list, kept)
}

// left is what the sweep has still to do, or may have: pods that are kept for their report, and Jobs that were not
// released.
func (s *story) left() error {
	for _, obj := range s.world.Shown(podKind) {
		if pod := obj.(*corev1.Pod); len(pod.Finalizers) > 0 {
			return fmt.Errorf("pod %s is kept by its finalizer", pod.Name)
		}
	}
	for _, obj := range s.world.Shown(jobKind) {
		if job := obj.(*batchv1.Job); job.Spec.Suspend != nil && *job.Spec.Suspend {
			return fmt.Errorf("job %s is suspended", job.Name)
		}
	}
	return nil
}

// mark is that of the target; nil if it bears none.
func (s *story) mark() *reserve.Unresolved {
	lease := s.lease()
	if lease == nil {
		return nil
	}
	return read.UnresolvedOf(lease)
}

// lease is that of the target; nil if there is none.
func (s *story) lease() *coordinationv1.Lease {
	if s.target == nil {
		return nil
	}
	lease := &coordinationv1.Lease{}
	lease.Namespace, lease.Name = harness.SystemNamespace, read.LeaseName(s.target.UID)
	if !s.world.Find(lease) {
		return nil
	}
	return lease
}
