// Package classruntime wires the controllers of area runtime. It is not called runtime, because two packages of that
// name are imported nearly everywhere.
package classruntime

import (
	"fmt"

	runtimev1 "github.com/statecraft-dev/statecraft/api/runtime/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/classruntime/act"
	"github.com/statecraft-dev/statecraft/internal/classruntime/class"
	"github.com/statecraft-dev/statecraft/internal/classruntime/observe"
	"github.com/statecraft-dev/statecraft/internal/classruntime/ownership"
	"github.com/statecraft-dev/statecraft/internal/classruntime/spec"
	"github.com/statecraft-dev/statecraft/internal/kube"
)

// What the area may do. It reads no Secret: pods name those that they need, and nodes read them.
//
// +kubebuilder:rbac:groups=runtime.statecraft.dev,resources=classruntimes,verbs=get;list;watch
// +kubebuilder:rbac:groups=runtime.statecraft.dev,resources=classruntimes/status,verbs=patch
// +kubebuilder:rbac:groups=runtime.statecraft.dev,resources=classruntimes/finalizers,verbs=update
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=services,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=autoscaling,resources=horizontalpodautoscalers,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=policy,resources=poddisruptionbudgets,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=apps,resources=replicasets,verbs=list;watch
// +kubebuilder:rbac:groups="",resources=pods,verbs=list;watch

// controller names the manager of the fields that are applied.
const controller = ownership.SpecController

// Area is area runtime.
func Area(c Config) kube.AreaSetup {
	return kube.AreaSetup{
		Name: "runtime", AddToScheme: runtimev1.AddToScheme, Kinds: Kinds(), Caches: Caches(),
		Setup: func(a *kube.Area) error { return setup(a, c) },
	}
}

// Kinds are those that have a machine in the area.
func Kinds() []kube.Kind {
	return []kube.Kind{kube.KindOf(runtimev1.GroupVersion.Group, &class.Machine)}
}

// NewClass builds the controller of ClassRuntimes, which reads what looks at sources of telemetry say.
func NewClass(e kube.Env, looks *Looks) *kube.Reconciler[*runtimev1.ClassRuntime, class.World] {
	r := kube.NewReconciler(e, &class.Machine)
	r.Observe = observe.Class{Cached: e.Cached(), Live: e.LiveReader(), Children: e.Children(controller, spec.Stamp), Sources: looks}.Observe
	r.Act = act.Class{Writer: e.Writer(controller), Lane: e.Writer(ownership.LaneController), Live: e.LiveReader()}.Act
	r.AfterPass = looks.Follow
	return r
}

func setup(a *kube.Area, c Config) error {
	waker := &kube.Waker{}
	sources, err := c.Sources.open(a.Env)
	if err != nil {
		return err
	}
	looks := NewLooks(a.Env, sources, waker.Wake)
	if err := a.Run(looks.Start); err != nil {
		return fmt.Errorf("run sampler: %w", err)
	}
	if err := a.Index(Indexes()...); err != nil {
		return err
	}
	if err := collectFunctions(a, functionSeries{looks, a.Env.Now}); err != nil {
		return err
	}
	return kube.Add(a, NewClass(a.Env, looks), ClassWakes(waker)...)
}
