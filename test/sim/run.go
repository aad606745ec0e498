package sim

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// run is one plan being tried.
type run struct {
	lab   *Lab
	plan  Plan
	world *World
	play  *Play

	// A pass may read from several goroutines at once.
	mu        sync.Mutex
	clock     time.Time
	stage     int
	record    record
	typed     map[*unstructured.Unstructured]runtime.Object // versions in the record
	listed    map[Ref]bool                                  // kinds of which the record knows all, by namespace
	resting   bool                                          // nothing is struck any more
	calls     []*Call                                       // without faults; otherwise they are only counted
	called    int
	seen      map[Boundary]int
	cells     []*Cell
	booted    int
	passes    int                           // made since they were last counted from 0
	pending   []Change                      // written, and nobody was told yet
	counts    map[string]map[types.UID]bool // "create Pod": which, by controllers
	writes    map[string]int                // as the audit log counts them, by controllers
	struck    int                           // calls made until the first fault struck, 0 before
	second    bool                          // the second has struck
	rewind    Fault                         // how the next process begins in the past, "" if it does not
	wrong     []string                      // what diverged
	meanwhile time.Time                     // when others have something to do again, zero if they do not
	end       string                        // the name of another end
	ended     time.Time                     // by the machine's clock
}

func newRun(ctx context.Context, lab *Lab, id string, plan Plan) (*run, error) {
	r := &run{
		lab: lab, plan: plan, clock: time.Now(), seen: map[Boundary]int{}, record: newRecord(),
		typed: map[*unstructured.Unstructured]runtime.Object{}, listed: map[Ref]bool{},
		counts: map[string]map[types.UID]bool{}, writes: map[string]int{},
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "sim-" + id}}
	if err := lab.admin.Create(ctx, namespace); err != nil {
		return nil, fmt.Errorf("make namespace of plan: %w", err)
	}
	r.world = &World{Namespace: namespace.Name, run: r}
	r.world.Client = r.userClient()
	r.play = lab.subject.Open(r.world)
	return r, nil
}

// userTakes is how long users think: events are repeated by then, and caches that
// lag may still.
const userTakes = repeatAfter

// perform runs the whole story. What diverges is kept in r.wrong.
func (r *run) perform(ctx context.Context) error {
	r.boot()
	for i, step := range r.play.Steps {
		r.mu.Lock()
		r.stage = i + 1
		r.mu.Unlock()
		if err := step.Do(ctx); err != nil {
			return fmt.Errorf("%s: %w", step.Name, err)
		}
		if err := r.until(ctx, r.patience(step), step.Until); err != nil {
			if r.end = r.otherEnd(); r.end == "" {
				r.diverge("after %q: %v", step.Name, err)
			}
			break
		}
		r.during(ctx, userTakes)
	}
	r.rest(ctx)
	r.ended = time.Now()
	return ctx.Err()
}

// otherEnd is the name of the declared end that the story came to, if any.
func (r *run) otherEnd() string {
	for _, o := range r.play.Others {
		if (r.plan.Fault.in(o.Faults) || r.plan.Second != "" && r.plan.Second.in(o.Faults)) && o.Is() {
			return o.Name
		}
	}
	return ""
}

func (r *run) diverge(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.wrong = append(r.wrong, fmt.Sprintf(format, args...))
}

func (r *run) now() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.clock
}

// pass the time.
func (r *run) wait(d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.clock = r.clock.Add(d)
}
