package sim

import (
	"errors"
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// The retries of the manager's own queue.
const (
	firstRetry   = 200 * time.Millisecond
	longestRetry = 30 * time.Second
)

// item is one object of one controller.
type item struct {
	controller int
	key        read.Key
}

// queue is the work queue of a process, with our clock: each item is there once,
// and a timer that an item waits for is not put off by a later one.
type queue struct {
	ready []item
	later map[item]time.Time
	fails map[item]int
}

func (q *queue) add(i item) {
	if !slices.Contains(q.ready, i) {
		q.ready = append(q.ready, i)
	}
}

func (q *queue) addAt(i item, at time.Time) {
	if q.later == nil {
		q.later = map[item]time.Time{}
	}
	if was, waits := q.later[i]; !waits || at.Before(was) {
		q.later[i] = at
	}
}

// due moves items whose time has come, the earliest first.
func (q *queue) due(now time.Time) {
	var items []item
	for i, at := range q.later {
		if !at.After(now) {
			items = append(items, i)
		}
	}
	slices.SortFunc(items, func(a, b item) int {
		if c := q.later[a].Compare(q.later[b]); c != 0 {
			return c
		}
		return compareItems(a, b)
	})
	for _, i := range items {
		delete(q.later, i)
		q.add(i)
	}
}

func compareItems(a, b item) int {
	if a.controller != b.controller {
		return a.controller - b.controller
	}
	return slices.Compare([]byte(a.key.String()), []byte(b.key.String()))
}

func (q *queue) take() (item, bool) {
	if len(q.ready) == 0 {
		return item{}, false
	}
	i := q.ready[0]
	q.ready = q.ready[1:]
	return i, true
}

// next is when the earliest timer ends.
func (q *queue) next() (at time.Time, waits bool) {
	for _, t := range q.later {
		if !waits || t.Before(at) {
			at, waits = t, true
		}
	}
	return at, waits
}

// done does with the outcome of a pass what the manager's controller does.
func (q *queue) done(i item, now time.Time, result reconcile.Result, err error) {
	if q.fails == nil {
		q.fails = map[item]int{}
	}
	switch {
	case errors.Is(err, reconcile.TerminalError(nil)):
	case err != nil:
		q.addAt(i, now.Add(min(firstRetry<<min(q.fails[i], 20), longestRetry)))
		q.fails[i]++
	default:
		delete(q.fails, i)
		if result.RequeueAfter > 0 {
			q.addAt(i, now.Add(result.RequeueAfter))
		}
	}
}
