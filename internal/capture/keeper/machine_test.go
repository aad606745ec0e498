package keeper

import (
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/fsm/fsmtest"
	"github.com/statecraft-dev/statecraft/internal/presence"
)

var createdAt = metav1.NewTime(time.Unix(1_700_000_000, 0))

func bench() fsmtest.Bench[*capturev1.ObjectKeeper, World] {
	return fsmtest.Bench[*capturev1.ObjectKeeper, World]{
		Machine: &Machine,
		Object: func() *capturev1.ObjectKeeper {
			return &capturev1.ObjectKeeper{
				ObjectMeta: metav1.ObjectMeta{Name: "keeper", UID: "k1", ResourceVersion: "7", Generation: 1, CreationTimestamp: createdAt},
				Spec: capturev1.ObjectKeeperSpec{
					Mode:           capturev1.FollowObject,
					FollowRef:      &capturev1.FollowRef{APIVersion: "v1", Kind: "ConfigMap", Namespace: "shop", Name: "a", UID: "u1"},
					NamespaceGrace: &metav1.Duration{Duration: 168 * time.Hour},
				},
			}
		},
		World:   func() World { return World{Followed: presence.Here} },
		Perform: Perform,
		Settle: func(k *capturev1.ObjectKeeper, w World) World { // the user deletes the request
			if k.Status.Phase == Tracking && w.Followed == presence.Here {
				return World{Followed: presence.Gone, Live: true, Namespace: Living}
			}
			return w
		},
		Gone: func(w World) bool { return w.Gone },
		Any:  anyKeeper,
		End:  "gone",
		Safe: safe,
	}
}

// safe: a keeper goes only after a live read, whatever else is true.
func safe(in input, s fsm.Step[*capturev1.ObjectKeeper]) error {
	if len(s.Decision.Do) > 0 && in.Obj.Spec.Mode != capturev1.TTL && !(in.World.Followed == presence.Gone && in.World.Live) {
		return errors.New("deletes backups on a guess")
	}
	return nil
}

func anyKeeper(r *rand.Rand, phase fsm.Phase) (*capturev1.ObjectKeeper, World) {
	k := bench().Object()
	k.Spec.Mode = pick(r, capturev1.FollowObject, capturev1.FollowObjectWithTTL, capturev1.TTL)
	k.Spec.TTL = &metav1.Duration{Duration: time.Duration(r.IntN(200_000)) * time.Second}
	k.CreationTimestamp = createdAt
	if phase == Expiring && r.IntN(4) > 0 {
		k.Status.ExpiresAt = &metav1.Time{Time: createdAt.Add(time.Duration(r.IntN(200_000)) * time.Second)}
	}
	if r.IntN(10) == 0 {
		k.DeletionTimestamp = &createdAt
	}
	return k, World{
		Followed:  pick(r, "", presence.Here, presence.Gone, presence.Unknown),
		Why:       pick(r, presence.Forbidden, presence.Unserved, KindRemoved, presence.Unreadable),
		Live:      r.IntN(2) == 0,
		Namespace: pick(r, "", Living, Ending),
	}
}

func pick[V any](r *rand.Rand, from ...V) V { return from[r.IntN(len(from))] }

func TestMachine(t *testing.T)     { fsmtest.Try(t, bench()) }
func TestTranscripts(t *testing.T) { fsmtest.Transcripts(t, bench()) }

// TestGracePath drills the loss of a whole namespace.
func TestGracePath(t *testing.T) {
	b := bench()
	b.Settle = func(k *capturev1.ObjectKeeper, w World) World {
		if k.Status.Phase == Tracking && w.Followed == presence.Here {
			return World{Followed: presence.Gone, Live: true, Namespace: Ending}
		}
		return w
	}
	fsmtest.Drill(t, b)
}

// TestCountingPath drills mode TTL.
func TestCountingPath(t *testing.T) {
	b := bench()
	b.Object = func() *capturev1.ObjectKeeper {
		k := bench().Object()
		k.Spec = capturev1.ObjectKeeperSpec{Mode: capturev1.TTL, TTL: &metav1.Duration{Duration: time.Hour}}
		return k
	}
	fsmtest.Drill(t, b)
}

// What is to be retained is not given up a moment too early, although status keeps whole seconds only.
func TestRetentionIsNotCutShort(t *testing.T) {
	lost := createdAt.Add(900 * time.Millisecond)
	for name, c := range map[string]struct {
		mode  capturev1.KeeperMode
		until time.Time
	}{
		"with a time to live": {capturev1.FollowObjectWithTTL, lost.Add(20 * time.Second)},
		"without":             {capturev1.FollowObject, createdAt.Time},
	} {
		t.Run(name, func(t *testing.T) {
			k := bench().Object()
			k.Spec.Mode, k.Spec.TTL = c.mode, &metav1.Duration{Duration: 20 * time.Second}
			k.Status.Phase = Expiring
			report(k, input{Obj: k, World: World{Followed: presence.Gone, Live: true, Namespace: Living}, Now: lost}, fsm.Pass{})
			if is := k.Status.ExpiresAt.Time; is.Before(c.until) || is.After(c.until.Add(time.Second)) {
				t.Errorf("until %s, want %s", is, c.until)
			}
		})
	}
}
