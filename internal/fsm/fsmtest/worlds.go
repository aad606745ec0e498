package fsmtest

import (
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// How many worlds are generated for each phase. The explorer always looks at one
// round, and while an edge is missing at more, until a round shows no new one: a
// rare world is no fault.
const (
	exploredWorlds = 300
	explored       = 4 // rounds, in which a planted fault must show
	lateWorlds     = 100
	pureWorlds     = 20
	blindWorlds    = 30
)

// each asks ask about n worlds or more in every phase. The worlds of a phase are the same
// in every run, whatever other phases there are; another round has others.
func (b Bench[T, W]) each(n, round int, ask func(fsm.Input[T, W]) error) error {
	return b.eachIn(append(slices.Sorted(maps.Keys(b.Machine.Phases)), ""), n, round, ask)
}

func (b Bench[T, W]) eachIn(phases []fsm.Phase, n, round int, ask func(fsm.Input[T, W]) error) error {
	for _, phase := range phases {
		name := fnv.New64a()
		name.Write([]byte(phase))
		r := rand.New(rand.NewPCG(name.Sum64(), uint64(round)))
		for range b.share(n, phase) {
			obj, w := b.Any(r, phase)
			in := fsm.Input[T, W]{Obj: obj, World: w, Now: epoch.Add(time.Duration(r.IntN(100_000)) * time.Second)}
			obj.GetProgress().Phase = phase
			b.places(in, func(p *meta.Place, ends bool) { vary(r, p, in.Now, ends) })
			if err := ask(in); err != nil {
				return fmt.Errorf("%w\nobject %s\nworld %s", err, text(obj), text(w))
			}
		}
	}
	return nil
}

// share is how many of n worlds a phase gets: one in which lanes run gets more, or
// each phase of a lane would be met too seldom.
func (b Bench[T, W]) share(n int, phase fsm.Phase) int {
	n = max(1, n/b.part())
	if l := b.Machine.Lanes; l != nil && slices.Contains(l.In, phase) {
		n += n * len(l.Phases) / 2
	}
	return n
}

// part: one in so many is tried.
func (b Bench[T, W]) part() int {
	if b.Large {
		return sparse
	}
	return 1
}

// places visits the place of the object and of each lane, and says whether it has a deadline.
func (b Bench[T, W]) places(in fsm.Input[T, W], visit func(p *meta.Place, ends bool)) {
	p := &in.Obj.GetProgress().Place
	visit(p, b.Machine.Phases[p.Phase].Late != "")
	for _, lane := range b.lanes(in) {
		at := b.Machine.Lanes.At(in.Obj, lane)
		visit(at, b.Machine.Lanes.Phases[at.Phase].Late != "")
	}
}

// lanes are those that run in the object's phase.
func (b Bench[T, W]) lanes(in fsm.Input[T, W]) []string {
	if l := b.Machine.Lanes; l != nil && slices.Contains(l.In, in.Obj.GetProgress().Phase) {
		return l.Want(in)
	}
	return nil
}

// vary sets the clocks of a place: no deadline, a past one, one to come; sometimes
// held until now, sometimes backing off.
func vary(r *rand.Rand, p *meta.Place, now time.Time, deadline bool) {
	around := func() *metav1.Time {
		return &metav1.Time{Time: now.Add(time.Duration(r.IntN(600)-300) * time.Second).Truncate(time.Second)}
	}
	p.Since = metav1.Time{Time: now.Add(-10 * time.Minute).Truncate(time.Second)}
	if deadline {
		p.Deadline = around()
	}
	if r.IntN(4) == 0 {
		p.Failures, p.RetryAt = 1, around()
	}
	if r.IntN(8) == 0 {
		p.HeldSince = &metav1.Time{Time: p.Since.Add(time.Minute)}
	}
}
