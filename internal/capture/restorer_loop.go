package capture

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/act"
	"github.com/statecraft-dev/statecraft/internal/capture/observe"
	"github.com/statecraft-dev/statecraft/internal/capture/restorer"
	"github.com/statecraft-dev/statecraft/internal/capture/restorer/csi"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// RestorerConfig is what the operator of a restorer chose.
type RestorerConfig struct {
	Driver    string // the name that the driver gave itself
	Namespace string // of intents
	Metadata  bool   // the driver is told the names of claim and volume
	FSType    string // for classes that name none
}

// Restorer makes volumes for requests. What it remembers of one is in memory: after a
// restart its place is found again from what exists.
type Restorer struct {
	observe func(context.Context, *restorer.Restore) (restorer.World, error)
	act     func(context.Context, *restorer.Restore, fsm.Effect) (string, error)
	now     func() time.Time
	events  events.EventRecorder // nil: none

	mu     sync.Mutex
	places map[read.Key]*restorer.Restore
}

// NewRestorer builds a restorer over a driver.
func NewRestorer(e kube.Env, d csi.Driver, c RestorerConfig) *Restorer {
	return &Restorer{
		observe: observe.Restorer{Live: e.LiveReader(), Driver: c.Driver, Namespace: c.Namespace, Metadata: c.Metadata, FSType: c.FSType}.Observe,
		act:     act.Restorer{Writer: e.Writer("restorer"), Live: e.LiveReader(), Driver: d, Namespace: c.Namespace, Now: e.Now}.Act,
		now:     e.Now, events: e.Events, places: map[read.Key]*restorer.Restore{},
	}
}

// RestoreKey names a request by its UID as well: another of its name is another restore.
// claim is the name of its claim, where that is how the restorer heard of it.
func RestoreKey(namespace, name string, uid types.UID, claim string) read.Key {
	return read.Key{Namespace: namespace, Name: strings.Join([]string{name, string(uid), claim}, "/")}
}

// Reconcile is one pass over one request: read, decide, act, remember.
func (r *Restorer) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	parts := strings.Split(req.Name, "/")
	if len(parts) != 3 {
		return reconcile.Result{}, reconcile.TerminalError(fmt.Errorf("read key %s: want name/uid/claim", req.Name))
	}
	in := fsm.Input[*restorer.Restore, restorer.World]{Obj: r.place(req.Namespace, parts), Now: r.now()}
	var err error
	if in.World, err = r.observe(ctx, in.Obj); err != nil {
		return reconcile.Result{}, fmt.Errorf("observe: %w", err)
	}
	step, err := restorer.Machine.Step(in)
	if err != nil {
		return reconcile.Result{}, reconcile.TerminalError(fmt.Errorf("step: %w", err))
	}
	next := restorer.Machine.Reduce(in, step, r.perform(ctx, in.Obj, step.Decision))
	if !r.remember(req.Namespace, parts, next.Obj, in.World) || next.Again == fsm.Never {
		return reconcile.Result{}, nil
	}
	return reconcile.Result{RequeueAfter: max(next.Again, time.Nanosecond)}, nil
}

// perform performs effects in order and stops at the first that fails. A driver may take its
// time: the port sets how long, and what is asked again is answered the same.
func (r *Restorer) perform(ctx context.Context, obj *restorer.Restore, d fsm.Decision) (outcomes []fsm.Outcome) {
	log := logr.FromContextOrDiscard(ctx).WithValues("phase", obj.Status.Phase, "reason", d.Reason)
	for _, e := range d.Do {
		ref, err := r.act(ctx, obj, e)
		err = kube.Classify(err)
		outcomes = append(outcomes, fsm.Outcome{Effect: e, Ref: ref, Err: err})
		if err != nil {
			log.Info("effect failed", "effect", e.String(), "class", fsm.ClassOf(err), "error", err.Error())
			r.tell(obj, e, err)
			break
		}
		log.Info("effect performed", "effect", e.String())
	}
	return outcomes
}

// tell tells users of the request what the API server refuses, such as a claim beyond a quota:
// while there is no claim, there is no condition to say it in.
func (r *Restorer) tell(obj *restorer.Restore, e fsm.Effect, err error) {
	if r.events == nil || fsm.ClassOf(err) != fsm.Refused {
		return
	}
	about := &capturev1.VolumeRestoreRequest{ObjectMeta: metav1.ObjectMeta{Namespace: obj.Namespace, Name: obj.Name, UID: obj.UID}}
	r.events.Eventf(about, nil, corev1.EventTypeWarning, "RestoreRefused", "Restore", "%s: %s", e, err)
}

// place is where a request stood when it was last looked at.
func (r *Restorer) place(namespace string, parts []string) *restorer.Restore {
	r.mu.Lock()
	defer r.mu.Unlock()
	known := r.places[read.Key{Namespace: namespace, Name: parts[1]}]
	if known == nil {
		known = restorer.New(namespace, parts[0], types.UID(parts[1]))
	}
	known = known.DeepCopy()
	if claim := parts[2]; claim != "" {
		known.Annotations = map[string]string{restorer.ClaimName: claim}
	}
	return known
}

// remember keeps the place of a request until there is nothing to do for it. Then only a watch
// leads to another look: what is forgotten would be new every time.
func (r *Restorer) remember(namespace string, parts []string, obj *restorer.Restore, w restorer.World) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := read.Key{Namespace: namespace, Name: parts[1]}
	if obj.Status.Phase == restorer.Idle && w.Request != restorer.Wanted {
		delete(r.places, key)
		return false
	}
	r.places[key] = obj
	return true
}
