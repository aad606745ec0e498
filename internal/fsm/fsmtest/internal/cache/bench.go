package cache

import (
	"errors"
	"math/rand/v2"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/fsm/fsmtest"
)

// Bench brings a cache up.
func Bench() fsmtest.Bench[*Cache, World] {
	return fsmtest.Bench[*Cache, World]{
		Machine: &Machine,
		Object: func() *Cache {
			return &Cache{ObjectMeta: metav1.ObjectMeta{Name: "c", UID: "c1", Generation: 1}, Spec: Spec{Size: 3}}
		},
		World:   func() World { return World{Looked: true} },
		Perform: Perform,
		Settle:  Settle,
		Gone:    func(w World) bool { return w.Gone },
		Any:     anyCache,
		End:     "Running",
		Safe:    safe,
	}
}

// Leaving is Bench, but the user deletes the cache.
func Leaving() fsmtest.Bench[*Cache, World] {
	b := Bench()
	b.Object = func() *Cache {
		c := Bench().Object()
		c.DeletionTimestamp = &metav1.Time{Time: time.Unix(1_700_000_000, 0).UTC()}
		return c
	}
	b.World = func() World {
		return World{Looked: true, Server: &Server{UID: "s1", Size: 3, Ready: true, Labeled: true}}
	}
	b.End = "gone"
	return b
}

// safe: a server is deleted only with its cache, and the cache goes last.
func safe(in input, s fsm.Step[*Cache]) error {
	for _, e := range s.Decision.Do {
		switch e.(type) {
		case DeleteServer:
			if in.Obj.DeletionTimestamp == nil {
				return errors.New("deletes the server of a cache that stays")
			}
		case Release:
			if !in.World.Looked || in.World.Server != nil {
				return errors.New("leaves a server behind")
			}
		}
	}
	return nil
}

func anyCache(r *rand.Rand, phase fsm.Phase) (*Cache, World) {
	c := Bench().Object()
	c.Spec.Paused = r.IntN(4) == 0
	if phase == Deleting || r.IntN(8) == 0 {
		c.DeletionTimestamp = &metav1.Time{Time: time.Unix(1_700_000_000, 0).UTC()}
	}
	w := World{Looked: r.IntN(4) > 0}
	if w.Looked && r.IntN(4) > 0 {
		w.Server = &Server{UID: "s1", Size: 2 + r.IntN(2), Ready: r.IntN(2) == 0, Labeled: r.IntN(4) > 0}
	}
	return c, w
}
