package cache

// World is what a cache may look at.
type World struct {
	Looked bool    `json:"looked,omitempty"` // the server was looked for
	Server *Server `json:"server,omitempty"` // nil: there is none, if it was looked for
	Gone   bool    `json:"gone,omitempty"`   // the cache itself; only the model says so
}

// Server is the child, named after the cache's UID.
type Server struct {
	UID     string `json:"uid"`
	Size    int    `json:"size"`
	Ready   bool   `json:"ready,omitempty"`
	Labeled bool   `json:"labeled,omitempty"` // clients find it by its label
}
