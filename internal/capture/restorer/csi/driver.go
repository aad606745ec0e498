// Package csi is the interface to a CSI driver: the few calls that a restore needs, a client
// that makes them, and a fake that answers them.
package csi

import (
	"context"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/statecraft-dev/statecraft/internal/capture/restorer"
)

// Driver makes and deletes volumes. Secrets are what the plan's secret holds.
type Driver interface {
	// Create makes the volume of a plan. Asked again for the same plan it answers the same.
	Create(ctx context.Context, p restorer.Plan, secrets map[string]string) (Made, error)
	// Delete deletes a volume; that there is none is success.
	Delete(ctx context.Context, id string, secrets map[string]string) error
}

// Made is the answer to Create.
type Made struct {
	restorer.Volume
	// Snapshot is what the volume was made from, as the driver says; "" if it says nothing.
	Snapshot string
}

// Refused says that the driver has answered, and that there is no volume: not one that it
// still makes, either. Any other error leaves that open.
func Refused(err error) bool {
	if err == nil {
		return false
	}
	s, ok := status.FromError(err)
	if !ok {
		return false
	}
	switch s.Code() {
	case codes.Canceled, codes.DeadlineExceeded, codes.Unavailable, codes.Aborted:
		return false
	}
	return true
}

// NoSource says that what was to be restored is not there, or nothing that the driver knows.
func NoSource(err error) bool { return status.Code(err) == codes.NotFound }

// Words are what the driver said, without what only a program can use.
func Words(err error) string {
	if s, ok := status.FromError(err); ok {
		return s.Code().String() + ": " + s.Message()
	}
	return err.Error()
}

// neverMade says that there is no volume of that name: the driver would have answered with
// it before it looked at what is wrong. Errors that may come from anywhere do not say so, nor
// does ResourceExhausted: some drivers say that while they are asked too often.
func neverMade(err error) bool {
	switch status.Code(err) {
	case codes.InvalidArgument, codes.NotFound, codes.OutOfRange, codes.Unimplemented:
		return true
	}
	return false
}
