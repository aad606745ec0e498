package csiproxy

import (
	"fmt"

	"google.golang.org/grpc/mem"
)

// frame is a message as it is on the wire.
type frame struct{ bytes []byte }

// frames hands messages through unread. It calls itself what the callers' own codec is called, which is part of the
// content type on the wire.
type frames struct{}

// Name is part of the content type.
func (frames) Name() string { return "proto" }

// Marshal returns a frame's bytes.
func (frames) Marshal(v any) (mem.BufferSlice, error) {
	f, ok := v.(*frame)
	if !ok {
		return nil, fmt.Errorf("marshal %T: not a frame", v)
	}
	return mem.BufferSlice{mem.SliceBuffer(f.bytes)}, nil
}

// Unmarshal copies the bytes into a frame: they are not ours to keep.
func (frames) Unmarshal(data mem.BufferSlice, v any) error {
	f, ok := v.(*frame)
	if !ok {
		return fmt.Errorf("unmarshal %T: not a frame", v)
	}
	f.bytes = data.Materialize()
	return nil
}
