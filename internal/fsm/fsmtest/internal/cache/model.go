package cache

import "github.com/statecraft-dev/statecraft/internal/fsm"

// Perform is what an effect should do to the World.
func Perform(w World, e fsm.Effect) World {
	if w.Server != nil {
		s := *w.Server
		w.Server = &s
	}
	switch e := e.(type) {
	case ApplyServer:
		if w.Server == nil || w.Server.Size != e.Size {
			w.Server = &Server{UID: "server-of-" + e.Owner, Size: e.Size, Labeled: true}
		}
	case LabelServer:
		if w.Server != nil && w.Server.UID == e.UID {
			w.Server.Labeled = true
		}
	case DeleteServer:
		if w.Server != nil && w.Server.UID == e.UID {
			w.Server = nil
		}
	case Release:
		w.Gone = true
	}
	return w
}

// Settle is what others do meanwhile: servers become ready.
func Settle(_ *Cache, w World) World {
	if w.Server != nil {
		s := *w.Server
		s.Ready = true
		w.Server = &s
	}
	return w
}
