package upgrade

import (
	"fmt"
	"slices"
	"strings"
	"time"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// captureTimeout is how long the captures of all volumes may take.
const captureTimeout = 10 * time.Minute

// Captures are what spec.captureFirst asks for: one of each primary's volume, taken while
// nothing has been changed yet. They are not the upgrade's own: they are there to be restored
// when it has gone wrong, or is gone.
type Captures struct {
	// Impossible is why none can be made, and what to do.
	Impossible string `json:"impossible,omitempty"`
	// Of is one of each shard whose primary is known.
	Of []Capture `json:"of,omitempty"`
}

// Capture is that of one shard.
type Capture struct {
	Shard int          `json:"shard"`
	Name  string       `json:"name"`
	Claim string       `json:"claim"` // of the primary's volume
	State CaptureState `json:"state"`
	Words string       `json:"words,omitempty"` // why it failed
}

// CaptureState is how far a capture is.
type CaptureState string

// The states of a capture.
const (
	NotCaptured   CaptureState = "NotCaptured"
	BeingCaptured CaptureState = "BeingCaptured"
	Captured      CaptureState = "Captured"
	CaptureEnded  CaptureState = "CaptureEnded" // it failed, or somebody else's has its name
)

// CaptureVolume makes the capture of one primary's volume.
type CaptureVolume struct{ Name, Claim string }

func (CaptureVolume) effect()          {}
func (e CaptureVolume) String() string { return "capture-volume " + e.Claim + " as " + e.Name }

// CaptureName is the name of the capture of one shard, the same after any loss of status.
func CaptureName(u *valkeyv1.ValkeyUpgrade, shard int) string {
	const longest = 200 // of 253: the rest tells shards and upgrades of one name apart
	name, uid := u.Name, string(u.UID)
	return fmt.Sprintf("%s-%s-%d", name[:min(len(name), longest)], uid[:min(len(uid), 8)], shard)
}

// capture makes what spec.captureFirst asks for, and waits for it.
func capture(in input) (d fsm.Decision, captures bool) {
	c := in.World.Captures
	if !in.Obj.Spec.CaptureFirst {
		return d, false
	}
	if c.Impossible != "" {
		return fsm.Fire(CaptureFailed, ReasonCaptureUnavailable).Because("%s", c.Impossible), true
	}
	if len(c.Of) != len(in.World.Shards) {
		return waitForLook("cluster", "valkey"), true
	}
	if failed := c.in(CaptureEnded); len(failed) > 0 {
		return fsm.Fire(CaptureFailed, ReasonCaptureFailed).Because("The volumes could not be captured, and nothing was changed: %s.", strings.Join(failed, "; ")), true
	}
	if i := slices.IndexFunc(c.Of, func(c Capture) bool { return c.State == NotCaptured }); i >= 0 {
		return fsm.Do(ReasonCapturing, CaptureVolume{c.Of[i].Name, c.Of[i].Claim}).Because("The manager creates the captures of all volumes."), true
	}
	if awaited := c.in(BeingCaptured); len(awaited) > 0 {
		return fsm.Wait(ReasonCapturing, "captures").In(glance).
			Because("Waiting for the captures of all volumes: %s (%d of %d are left).", awaited[0], len(awaited), len(c.Of)), true
	}
	return d, false
}

// in are the captures in one state, each in words.
func (c Captures) in(state CaptureState) (words []string) {
	for _, of := range c.Of {
		if of.State != state {
			continue
		}
		text := "VolumeCaptureRequest " + of.Name
		if of.Words != "" {
			text += ": " + strings.TrimRight(of.Words, ".")
		}
		words = append(words, text)
	}
	return words
}

// noteCaptures names the captures for whoever has to restore them.
func noteCaptures(s *valkeyv1.ValkeyUpgradeStatus, c Captures) {
	if len(s.Captures) > 0 || len(c.Of) == 0 || len(c.in(Captured)) < len(c.Of) {
		return
	}
	for _, of := range c.Of {
		s.Captures = append(s.Captures, of.Name)
	}
}

// checkedUntil is when the cluster must be whole, and its volumes captured.
func checkedUntil(in input) time.Time {
	if in.Obj.Spec.CaptureFirst {
		return in.Now.Add(checksTimeout + captureTimeout)
	}
	return in.Now.Add(checksTimeout)
}
