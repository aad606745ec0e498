package class

import (
	"time"
)

// spare is how many replicas a function may lose and still count as ready: a node that is drained takes one.
const spare = 1

// becomes says that a function is all that was asked for: the rollout is over, no old replica is left, and as many pods
// are ready as it wants, by the word of their own status and not of a sum alone.
func (f Function) becomes() bool {
	r := f.Rollout
	return r.Seen && r.Desired >= f.least() && r.Updated == r.Desired && r.Ready >= r.Desired && r.Available >= r.Desired &&
		r.Total == r.Updated && f.answering() >= r.Desired
}

// stays says that a function that was ready still is. A Deployment that is scaled up, or replaces one of its pods, is
// not unready for that.
func (f Function) stays() bool {
	r := f.Rollout
	if r.Total > r.Updated {
		return false // a rollout is under way
	}
	least := f.least()
	if least == 0 {
		return true
	}
	need := max(1, least-spare)
	return r.Available >= need && f.answering() >= need
}

// allReady says that every function became ready and is what the spec asks for, and none of its pods crashes again and again:
// one that does is ready in between, too.
func allReady(in input) bool {
	if _, is := unfit(in); is {
		return false
	}
	for _, f := range in.World.Functions {
		if _, is := f.going(); is || !f.becomes() {
			return false
		}
		if _, is := crashes(f, in.Now); is {
			return false
		}
	}
	return len(in.World.Functions) > 0
}

// lost is a function that has lost more than may be spared.
func lost(w World) (Function, bool) {
	for _, f := range w.Functions {
		if !f.stays() {
			return f, true
		}
	}
	return Function{}, false
}

// overdue is about replicas that may be spared, but not for ever: what has been missing for too long, and when to look
// again if nothing has. It goes by what the pods say, so that it survives a restart.
func overdue(in input) (v verdict, again time.Duration) {
	for _, f := range in.World.Functions {
		if f.becomes() {
			continue
		}
		for _, p := range f.lacking() {
			left := at(p.Since).Add(patience(in.Obj)).Sub(in.Now)
			if left <= 0 {
				return verdict{reason: ReasonTimeout, message: cause(in.Obj, f).inVain(in)}, 0
			}
			if again == 0 || left < again {
				again = left
			}
		}
	}
	return v, again
}
