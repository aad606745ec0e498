package cache

import "fmt"

// Effect is what a cache may do.
//
//sumtype:decl
type Effect interface {
	fmt.Stringer
	effect()
}

// ApplyServer makes the server, or brings it to this size.
type ApplyServer struct {
	Owner string
	Size  int
}

// LabelServer gives the server its label back.
type LabelServer struct{ UID string }

// DeleteServer deletes the server of this UID. If it were wrong, a cache in use
// would be emptied.
type DeleteServer struct{ UID string }

// Release lets the cache itself go: its finalizer is taken off.
type Release struct{}

func (ApplyServer) effect()  {}
func (LabelServer) effect()  {}
func (DeleteServer) effect() {}
func (Release) effect()      {}

func (e ApplyServer) String() string {
	return fmt.Sprintf("apply-server of %s, size %d", e.Owner, e.Size)
}
func (e LabelServer) String() string  { return "label-server " + e.UID }
func (e DeleteServer) String() string { return "delete-server " + e.UID }
func (e Release) String() string      { return "release" }
