package topology

import "reflect"

// Gauges are the numbers that move all the time, apart from the rest, so that two
// looks at a cluster at rest can be told to be the same.
type Gauges struct {
	// Offset is how far in its shard's stream of changes a server is: a primary has
	// written so far, a replica has applied so much.
	Offset int64 `json:"offset,omitempty"`
	// PrimaryOffset is, for a replica, how far its primary was when last heard.
	PrimaryOffset int64 `json:"primaryOffset,omitempty"`
	// LinkDown is for how many seconds a replica has had no link to its primary: -1 is
	// since ever. It means nothing where the link is up.
	LinkDown int64 `json:"linkDown,omitempty"`
	Keys     int64 `json:"keys,omitempty"`    // in all databases
	Memory   int64 `json:"memory,omitempty"`  // bytes in use
	Dataset  int64 `json:"dataset,omitempty"` // bytes of them that keys take
}

// Same says that two looks saw the same, but for what moves all the time.
func (s *Server) Same(o *Server) bool {
	if s == nil || o == nil {
		return s == o
	}
	a, b := *s, *o
	a.Gauges, b.Gauges = Gauges{}, Gauges{}
	return reflect.DeepEqual(a, b)
}

// Attached is a replica in the eyes of the primary that it replicates from.
type Attached struct {
	Addr string `json:"addr"`
	// Online says that it has been sent everything and follows the stream.
	Online bool `json:"online,omitempty"`
}
