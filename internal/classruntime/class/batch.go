package class

import (
	"slices"

	runtimev1 "github.com/statecraft-dev/statecraft/api/runtime/v1alpha1"
)

// mostAtATime is how many functions are applied in a pass: all effects of one share four seconds.
const mostAtATime = 16

// batch are the children that are applied next. Functions that were refused come last: those that can be
// applied do not wait behind them.
func batch(in input) (all []Target) {
	functions := 0
	for _, again := range []bool{false, true} {
		for _, f := range in.World.Functions {
			targets := outdated(in, f)
			if _, is := wasRefused(in.Obj, f.Key); is != again || len(targets) == 0 || functions == mostAtATime {
				continue
			}
			functions++
			all = append(all, targets...)
		}
	}
	return all
}

// allRefused says that there is something to apply, and that all of it was refused before.
func allRefused(c *runtimev1.ClassRuntime, targets []Target) bool {
	return len(targets) > 0 && !slices.ContainsFunc(targets, func(t Target) bool {
		_, is := wasRefused(c, t.Function)
		return !is
	})
}

// abandoned are the orphans that are no part of a function that the spec has.
func (w World) abandoned() (all []Ref) {
	for _, o := range w.Orphans {
		if !slices.ContainsFunc(w.Functions, func(f Function) bool { return f.Name == o.Name }) {
			all = append(all, o)
		}
	}
	return all
}

// wasRefused is what is on record of a function whose children could not be applied.
func wasRefused(c *runtimev1.ClassRuntime, key string) (was runtimev1.FunctionStatus, is bool) {
	i := slices.IndexFunc(c.Status.Functions, func(f runtimev1.FunctionStatus) bool { return f.Key == key })
	if i < 0 {
		return was, false
	}
	was = c.Status.Functions[i]
	return was, slices.Contains(refused, was.Reason)
}
