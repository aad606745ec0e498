package keeper

import (
	"time"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/presence"
)

// decideTracking serves Pending, too: a keeper that lost its status finds its
// phase again from what it sees.
func decideTracking(in input) fsm.Decision {
	if in.Obj.Spec.Mode == capturev1.TTL {
		return decideCounting(in)
	}
	switch w := in.World; {
	case w.Followed == presence.Here && in.Obj.Status.Phase == Pending:
		return fsm.Fire(Found, ReasonFollowing)
	case w.Followed == presence.Here:
		return fsm.Wait(ReasonFollowing, "followed").Because("The keeper and what it owns stay for as long as %s exists.", followed(in))
	case w.Followed == presence.Unknown:
		return fsm.Wait(ReasonCannotFollow, "followed").In(recheck).Because("%s", cannotFollow(in))
	case w.Followed == presence.Gone && w.Live && w.Namespace != "":
		return fsm.Fire(Lost, ReasonObjectGone).Because("%s is gone.", followed(in))
	}
	return notLooked(in)
}

// notLooked waits while the followed object was not read, which is no evidence that it is gone.
func notLooked(in input) fsm.Decision {
	return fsm.Wait(ReasonNotLooked, "followed").In(recheck).Because("Waiting for the manager to read %s from the API server.", followed(in))
}

func decideCounting(in input) fsm.Decision {
	end := in.Obj.CreationTimestamp.Add(ttl(in))
	left := end.Sub(in.Now)
	switch {
	case left <= 0:
		return fsm.Fire(Expired, ReasonTimeOver).Because("The time to live of the keeper, spec.ttl, is over.")
	case in.Obj.Status.Phase == Pending:
		return fsm.Fire(Found, ReasonCounting)
	}
	return fsm.Wait(ReasonCounting).In(left).Because("The keeper and what it owns stay until %s.", atTime(end))
}

// decideExpiring deletes the keeper, after one more live read: the last one may
// be a week old.
func decideExpiring(in input) fsm.Decision {
	follows := in.Obj.Spec.Mode != capturev1.TTL
	switch expires, w := in.Obj.Status.ExpiresAt, in.World; {
	case in.Obj.DeletionTimestamp != nil:
		return fsm.Wait(ReasonDeleting, "self").Because("Waiting for the keeper, which is being deleted, to be gone.")
	case follows && w.Followed == presence.Here && w.Live:
		return fsm.Fire(Found, ReasonObjectBack).Because("%s exists after all, with the same UID.", followed(in))
	case expires == nil:
		return fsm.Save(ReasonSavingTimeOfLoss).Because("The manager saves until when the keeper and what it owns stay.")
	case in.Now.Before(expires.Time):
		return fsm.Wait(ReasonRetained).In(expires.Sub(in.Now)).Because("The keeper and what it owns stay until %s.", atTime(expires.Time))
	case follows && w.Followed == presence.Unknown:
		return fsm.Wait(ReasonCannotFollow, "followed").In(recheck).Because("%s", cannotFollow(in))
	case follows && (w.Followed != presence.Gone || !w.Live):
		return notLooked(in)
	}
	return fsm.Do(ReasonTimeOver, DeleteKeeper{in.Obj.UID, in.Obj.ResourceVersion}).
		Because("The manager deletes the keeper, whose time is over, and with it what it owns.")
}

func atTime(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05Z") }

// followed is the followed object, in words.
func followed(in input) string {
	ref := in.Obj.Spec.FollowRef
	if ref.Namespace != "" {
		return ref.Kind + " " + ref.Namespace + "/" + ref.Name
	}
	return ref.Kind + " " + ref.Name
}

// cannotFollow says what cannot be read and who must act.
func cannotFollow(in input) string {
	return "The manager cannot tell whether " + followed(in) + " exists: " + advice(in.World.Why, in.Obj.Spec.FollowRef.Kind)
}
