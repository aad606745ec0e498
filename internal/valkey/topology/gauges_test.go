package topology

import "testing"

func TestSameLeavesOutWhatMoves(t *testing.T) {
	look := func() *Server { return cluster(1)[0].Server }
	var none *Server
	if !none.Same(nil) || none.Same(look()) || look().Same(nil) {
		t.Error("silence is the same as silence only")
	}
	moved := look()
	moved.Gauges = Gauges{Offset: 7, PrimaryOffset: 9, Keys: 3, Memory: 5, LinkDown: 1}
	if !look().Same(moved) || moved.Offset != 7 {
		t.Errorf("only numbers moved, of %+v", moved.Gauges)
	}
	for name, change := range map[string]func(*Server){
		"an epoch":           func(s *Server) { s.Epoch++ },
		"the epoch of one":   func(s *Server) { s.View[1].Epoch++ },
		"a slot that opened": func(s *Server) { s.Open = []OpenSlot{{Slot: 1, Peer: "b"}} },
		"a replica":          func(s *Server) { s.Attached = []Attached{{Addr: "a"}} },
		"a full copy":        func(s *Server) { s.Syncing = true },
	} {
		s := look()
		change(s)
		if s.Same(look()) {
			t.Errorf("%s makes no difference", name)
		}
	}
}
