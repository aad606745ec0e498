package cache

import "github.com/statecraft-dev/statecraft/internal/fsm"

// decideApplying is also where a cache finds its place after it forgot it: what is
// applied already is not applied again.
func decideApplying(in input) fsm.Decision {
	switch _, current := current(in); {
	case !in.World.Looked:
		return fsm.Wait(ReasonNotLooked, "servers").In(recheck).Because("Waiting for a look at the servers.")
	case current:
		return fsm.Fire(Applied, ReasonApplying)
	}
	return fsm.Do(ReasonApplying, ApplyServer{string(in.Obj.UID), in.Obj.Spec.Size}).Because("The server is applied.")
}

func decideStarting(in input) fsm.Decision {
	switch s, current := current(in); {
	case !in.World.Looked:
		return fsm.Wait(ReasonNotLooked, "servers").In(recheck).Because("Waiting for a look at the servers.")
	case !current:
		return fsm.Fire(Outdated, ReasonOutdated)
	case s.Ready:
		return fsm.Fire(Started, ReasonServing)
	}
	return fsm.Wait(ReasonStarting, "servers").Because("Waiting for the server to start.")
}

func decideRunning(in input) fsm.Decision {
	switch s, current := current(in); {
	case !in.World.Looked:
		return fsm.Wait(ReasonNotLooked, "servers").In(recheck).Because("Waiting for a look at the servers.")
	case !current:
		return fsm.Fire(Outdated, ReasonOutdated)
	case !s.Ready:
		return fsm.Fire(Failed, ReasonNotReady)
	}
	return fsm.Wait(ReasonServing, "servers").In(recheck).Because("The server serves.")
}

func decideDegraded(in input) fsm.Decision {
	switch s, current := current(in); {
	case !in.World.Looked:
		return fsm.Wait(ReasonNotLooked, "servers").In(recheck).Because("Waiting for a look at the servers.")
	case !current:
		return fsm.Fire(Outdated, ReasonOutdated)
	case s.Ready:
		return fsm.Fire(Recovered, ReasonServing)
	}
	return fsm.Wait(ReasonNotReady, "servers").Because("Waiting for the server to become ready.")
}

// decideDeleting takes the server down first: once the cache is gone, nobody would.
func decideDeleting(in input) fsm.Decision {
	switch w := in.World; {
	case !w.Looked:
		return fsm.Wait(ReasonNotLooked, "servers").In(recheck).Because("Waiting for a look at the servers.")
	case w.Server != nil:
		return fsm.Do(ReasonRemoving, DeleteServer{w.Server.UID}).Because("The server is deleted.")
	}
	return fsm.Do(ReasonRemoving, Release{}).Because("The server is gone.")
}

// current is the server, if it is there in the wanted size.
func current(in input) (Server, bool) {
	s := in.World.Server
	if s == nil || s.Size != in.Obj.Spec.Size {
		return Server{}, false
	}
	return *s, true
}

func paused(in input) (string, bool) {
	return "The cache is paused; unset spec.paused.", in.Obj.Spec.Paused
}

// relabel is the reflex. A paused cache is left alone even in this.
func relabel(in input) (fsm.Decision, bool) {
	s := in.World.Server
	if s == nil || s.Labeled || in.Obj.Spec.Paused || in.Obj.DeletionTimestamp != nil {
		return fsm.Decision{}, false
	}
	return fsm.Do(ReasonRelabel, LabelServer{s.UID}).Because("The server gets its label back."), true
}
