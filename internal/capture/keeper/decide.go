package keeper

import (
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
		return fsm.Wait(ReasonFollowing, "followed")
	case w.Followed == presence.Unknown:
		return fsm.Wait(ReasonCannotFollow, "followed").In(recheck).Because("%s", cannotFollow(in))
	case w.Followed == presence.Gone && w.Live && w.Namespace != "":
		return fsm.Fire(Lost, ReasonObjectGone)
	}
	return fsm.Wait(ReasonNotLooked, "followed").In(recheck)
}

func decideCounting(in input) fsm.Decision {
	left := in.Obj.CreationTimestamp.Add(ttl(in)).Sub(in.Now)
	switch {
	case left <= 0:
		return fsm.Fire(Expired, ReasonTimeOver)
	case in.Obj.Status.Phase == Pending:
		return fsm.Fire(Found, ReasonCounting)
	}
	return fsm.Wait(ReasonCounting).In(left)
}

// decideExpiring deletes the keeper, after one more live read: the last one may
// be a week old.
func decideExpiring(in input) fsm.Decision {
	follows := in.Obj.Spec.Mode != capturev1.TTL
	switch expires, w := in.Obj.Status.ExpiresAt, in.World; {
	case in.Obj.DeletionTimestamp != nil:
		return fsm.Wait(ReasonDeleting, "self")
	case follows && w.Followed == presence.Here && w.Live:
		return fsm.Fire(Found, ReasonObjectBack)
	case expires == nil:
		return fsm.Save(ReasonSavingTimeOfLoss)
	case in.Now.Before(expires.Time):
		return fsm.Wait(ReasonRetained).In(expires.Sub(in.Now)).Because("kept until %s", expires.UTC().Format("2006-01-02 15:04:05Z"))
	case follows && w.Followed == presence.Unknown:
		return fsm.Wait(ReasonCannotFollow, "followed").In(recheck).Because("%s", cannotFollow(in))
	case follows && (w.Followed != presence.Gone || !w.Live):
		return fsm.Wait(ReasonNotLooked, "followed").In(recheck)
	}
	return fsm.Do(ReasonTimeOver, DeleteKeeper{in.Obj.UID, in.Obj.ResourceVersion})
}

// cannotFollow says what cannot be read and who must act.
func cannotFollow(in input) string {
	ref := in.Obj.Spec.FollowRef
	name := ref.Name
	if ref.Namespace != "" {
		name = ref.Namespace + "/" + name
	}
	return "cannot tell whether " + ref.Kind + " " + name + " exists: " + advice(in.World.Why, ref.Kind)
}
