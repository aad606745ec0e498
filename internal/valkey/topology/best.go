package topology

import (
	"cmp"
	"slices"
)

// Best is the replica that should become primary: of those that hold a copy, the one
// that has the most of the shard's changes, and of several the one with the lowest ID.
//
// NOTE: the operator and the program that starts a server choose by this function. Two
// that choose differently would split the votes.
func Best(candidates []*Server) (*Server, bool) {
	copies := slices.DeleteFunc(slices.Clone(candidates), func(s *Server) bool {
		return s == nil || !s.Copies()
	})
	if len(copies) == 0 {
		return nil, false
	}
	return slices.MinFunc(copies, func(a, b *Server) int {
		return cmp.Or(cmp.Compare(b.Offset, a.Offset), cmp.Compare(a.ID, b.ID))
	}), true
}

// Copies says that a replica holds the data of its primary, or did until the link went
// down: none of it is being read or sent anew.
func (s *Server) Copies() bool {
	return s.Self().Follows != "" && !s.Loading && !s.Syncing && (s.Synced || s.LinkDown >= 0)
}
