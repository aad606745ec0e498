package cache

import "github.com/statecraft-dev/statecraft/internal/fsm"

// decideApplying is also where a cache finds its place after it forgot it: what is
// applied already is not applied again.
func decideApplying(in input) fsm.Decision {
	switch _, current := current(in); {
	case !in.World.Looked:
		return fsm.Wait(ReasonNotLooked, "servers").In(recheck)
	case current:
		return fsm.Fire(Applied, ReasonApplying)
	}
	return fsm.Do(ReasonApplying, ApplyServer{string(in.Obj.UID), in.Obj.Spec.Size})
}

func decideStarting(in input) fsm.Decision {
	switch s, current := current(in); {
	case !in.World.Looked:
		return fsm.Wait(ReasonNotLooked, "servers").In(recheck)
	case !current:
		return fsm.Fire(Outdated, ReasonOutdated)
	case s.Ready:
		return fsm.Fire(Started, ReasonServing)
	}
	return fsm.Wait(ReasonStarting, "servers")
}

func decideRunning(in input) fsm.Decision {
	switch s, current := current(in); {
	case !in.World.Looked:
		return fsm.Wait(ReasonNotLooked, "servers").In(recheck)
	case !current:
		return fsm.Fire(Outdated, ReasonOutdated)
	case !s.Ready:
		return fsm.Fire(Failed, ReasonNotReady)
	}
	return fsm.Wait(ReasonServing, "servers").In(recheck)
}

func decideDegraded(in input) fsm.Decision {
	switch s, current := current(in); {
	case !in.World.Looked:
		return fsm.Wait(ReasonNotLooked, "servers").In(recheck)
	case !current:
		return fsm.Fire(Outdated, ReasonOutdated)
	case s.Ready:
		return fsm.Fire(Recovered, ReasonServing)
	}
	return fsm.Wait(ReasonNotReady, "servers").Because("the server must become ready")
}

// decideDeleting takes the server down first: once the cache is gone, nobody would.
func decideDeleting(in input) fsm.Decision {
	switch w := in.World; {
	case !w.Looked:
		return fsm.Wait(ReasonNotLooked, "servers").In(recheck)
	case w.Server != nil:
		return fsm.Do(ReasonRemoving, DeleteServer{w.Server.UID})
	}
	return fsm.Do(ReasonRemoving, Release{})
}

// current is the server, if it is there in the wanted size.
func current(in input) (Server, bool) {
	s := in.World.Server
	if s == nil || s.Size != in.Obj.Spec.Size {
		return Server{}, false
	}
	return *s, true
}

func paused(in input) (string, bool) { return "spec.paused must be unset", in.Obj.Spec.Paused }

// relabel is the reflex. A paused cache is left alone even in this.
func relabel(in input) (fsm.Decision, bool) {
	s := in.World.Server
	if s == nil || s.Labeled || in.Obj.Spec.Paused || in.Obj.DeletionTimestamp != nil {
		return fsm.Decision{}, false
	}
	return fsm.Do(ReasonRelabel, LabelServer{s.UID}), true
}
