package volumecapture

import (
	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/presence"
)

// Perform is what an effect should do to the World.
func Perform(w World, e fsm.Effect) World {
	switch e := e.(type) {
	case CreateKeeper:
		if w.Keeping.Sight == presence.Gone {
			w.Keeping = request.Keeping{Sight: presence.Here, UID: "keeper", Namespace: e.Namespace}
		}
	case CreateContent:
		if w.Content.Sight == presence.Gone {
			w.Content = Content{Sight: presence.Here, UID: "content", ResourceVersion: "1", Origin: &e.Origin}
		}
	case DeleteContent:
		if w.Content.Sight == presence.Here && w.Content.UID == e.UID {
			w.Content.Deleting = true
		}
	}
	w.Claim, w.Volume, w.Holder = performDetach(w, e)
	return w
}

func performDetach(w World, e fsm.Effect) (Claim, Volume, Holder) {
	c, v, h := w.Claim, w.Volume, w.Holder
	switch e := e.(type) {
	case MarkVolume:
		if v.Mark.By == "" {
			v.Mark = Mark{By: e.Origin.RequestUID, Policy: e.Policy, Origin: &e.Origin}
		}
		v.Policy = retain
	case UnmarkVolume:
		if v.Mark.By != "" {
			v.Mark, v.Policy = Mark{}, e.Policy
		}
	case DeleteClaim:
		c.Deleting = c.Deleting || c.Sight == presence.Here && c.UID == e.UID
	case CreateHolder:
		if h.Sight == presence.Gone {
			h = Holder{Sight: presence.Here, UID: "holder"}
		}
	case BindVolume:
		v.ClaimUID = e.Holder
	case RestorePolicy:
		v.Policy = e.Policy
	}
	return c, v, h
}

// Settle is what others do meanwhile: the driver makes a snapshot or deletes it, claims go
// and are bound. And the request itself is seen as it was saved.
func Settle(r *capturev1.VolumeCaptureRequest, w World) World {
	if w.Self != r.Status.Phase {
		w.Self = r.Status.Phase
		return w
	}
	switch {
	case w.Content.Sight == presence.Here && w.Content.Deleting:
		w.Content = Content{Sight: presence.Gone}
	case w.Content.Sight == presence.Here && !w.Content.Ready:
		size := int64(1 << 30)
		w.Content.Ready, w.Content.Handle, w.Content.Size, w.Content.Error = true, "snapshot", &size, ""
	}
	switch {
	case w.Claim.Sight == presence.Here && !w.Claim.Bound:
		w.Claim.Bound, w.Volume.ClaimUID = true, w.Claim.UID
	case w.Claim.Deleting:
		w.Claim = Claim{Sight: presence.Gone}
	case w.Holder.Sight == presence.Here && w.Volume.ClaimUID == w.Holder.UID:
		w.Holder.Bound = true
	}
	return w
}
