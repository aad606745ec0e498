package fsm

import (
	"fmt"
	"slices"
	"time"
)

// Wakes that every machine has, and does not declare.
const (
	self    = "self"  // a change of the object itself
	retry   = "retry" // the end of a back-off
	ofLanes = "lanes" // a move of a lane, or its own timer
)

var builtIn = []string{self, retry, ofLanes}

// Wake is one thing that leads to another pass over an object that waits. The adapter
// knows, for each by its name, how it finds the objects.
type Wake struct {
	Name string
	By   WakeBy
	// Every is how soon a wait for it is looked at again by itself, for what no event
	// tells: that the holder of a reservation has ended, say. 0 is never.
	Every time.Duration
}

// WakeBy says what kind of thing wakes.
type WakeBy string

// What wakes objects.
const (
	ByWatch       WakeBy = "Watch"       // another object changed
	ByWorker      WakeBy = "Worker"      // work beside the passes ended
	BySampler     WakeBy = "Sampler"     // a look at something outside showed a change
	ByReservation WakeBy = "Reservation" // a target is free: its Lease changed, or its holder ended
	ByTimer       WakeBy = "Timer"       // nothing tells; it is looked at every so often
)

var wakesBy = []WakeBy{ByWatch, ByWorker, BySampler, ByReservation, ByTimer}

// wake finds a declared wake.
func (m *Machine[T, W]) wake(name string) (Wake, bool) {
	if slices.Contains(builtIn, name) {
		return Wake{Name: name}, true
	}
	i := slices.IndexFunc(m.Wakes, func(w Wake) bool { return w.Name == name })
	if i < 0 {
		return Wake{}, false
	}
	return m.Wakes[i], true
}

// UnknownWake is the first of these names that is not in the table.
func (m *Machine[T, W]) UnknownWake(names []string) (name string, is bool) {
	i := slices.IndexFunc(names, func(name string) bool { _, known := m.wake(name); return !known })
	if i < 0 {
		return "", false
	}
	return names[i], true
}

// checkWakes looks at the table of wakes, and whether holds name one of it.
func (m *Machine[T, W]) checkWakes() (errs []error) {
	seen := map[string]bool{"": true}
	for _, w := range m.Wakes {
		if seen[w.Name] || slices.Contains(builtIn, w.Name) || !slices.Contains(wakesBy, w.By) {
			errs = append(errs, fmt.Errorf("wake %q lacks a name of its own, or a kind that exists", w.Name))
		}
		if silent := w.By == ByReservation || w.By == ByTimer; silent && w.Every <= 0 {
			errs = append(errs, fmt.Errorf("wake %s may say nothing, and is not looked at by itself", w.Name))
		}
		seen[w.Name] = true
	}
	names := holdWakes(m.Holds)
	if m.Lanes != nil {
		names = append(names, holdWakes(m.Lanes.Holds)...)
	}
	if name, is := m.UnknownWake(names); is {
		errs = append(errs, fmt.Errorf("a hold waits for %q, which is not in the table of wakes", name))
	}
	return errs
}

func holdWakes[I any](holds []Hold[I]) (names []string) {
	for _, h := range holds {
		names = append(names, h.Wake)
	}
	return names
}

// timer notes what d waits for and when it wants to be looked at again, even if
// another's decision stands.
func (m *Machine[T, W]) timer(s *Step[T], d Decision) {
	look := func(after time.Duration) {
		if after > 0 {
			s.after = min(s.after, after)
		}
	}
	look(d.After)
	if !d.Waits() {
		return
	}
	for _, name := range d.Wakes {
		if !slices.Contains(s.Wakes, name) {
			s.Wakes = append(s.Wakes, name)
		}
		w, _ := m.wake(name)
		look(w.Every)
	}
}
