// Package read is all of kube that an observer may import: readers of the API
// server, and the read side of reservations, workers and samplers. It knows no
// writer and no manager, so an observer cannot write by accident.
package read

import (
	"context"
	"errors"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Reader reads from the cache: cheap, and a moment old.
type Reader = client.Reader

// Key names an object.
type Key = types.NamespacedName

// Live reads from the API server itself. It is a type of its own, so that a
// signature tells which of the two a verdict rests on.
type Live struct{ client.Reader }

// ListOption says what to list, and how.
type ListOption = client.ListOption

// InNamespace limits a list to one namespace.
type InNamespace = client.InNamespace

// FromWatchCache lets a list be what the API server remembers, which may be a moment old. One that must be of this very moment
// waits until the server has caught up with all writes before it, for up to a tenth of a second. Only what was found
// can be relied on, not what was not.
var FromWatchCache = &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: "0"}}

// Fields limits a list of the cache to objects with this value in an index.
type Fields = client.MatchingFields

// Shared lists objects of the cache as it holds them, and not copies: for who looks through many of them, and changes none.
var Shared = client.UnsafeDisableDeepCopy

// Limit limits a list to a page of so many objects.
type Limit = client.Limit

// Continue lists the page after the one that gave this token.
type Continue = client.Continue

// Labels limits a list to objects with these labels.
type Labels = client.MatchingLabels

// NotYet is returned by an observer that cannot see yet, and soon will: a cache
// that has not synced, say. The pass ends without a decision and is repeated.
type NotYet struct {
	What  string
	After time.Duration
}

func (e *NotYet) Error() string { return "not yet: " + e.What }

// AsNotYet finds a NotYet in err.
func AsNotYet(err error) (*NotYet, bool) {
	e := (*NotYet)(nil)
	return e, errors.As(err, &e)
}

// Sample is the last look at something outside.
type Sample[V any] struct {
	Value V
	At    time.Time // when it was taken; zero is never
	Err   error     // of the last look, whose value then is the one before
}

// Age is how old the value is, and whether there is one.
func (s Sample[V]) Age(now time.Time) (age time.Duration, taken bool) {
	return now.Sub(s.At), !s.At.IsZero()
}

// Samples is the read side of a kube.Sampler.
type Samples[V any] interface {
	// Last is the last sample, which may be old or none.
	Last(key Key) Sample[V]
	// Fresh is a sample no older than age, taken now if need be.
	Fresh(ctx context.Context, key Key, age time.Duration) Sample[V]
}

// Work is what is known of a job of a kube.Worker.
type Work[R any] struct {
	State  WorkState
	Err    error  // why it ended; nil is success
	For    string // what it was begun for, as whoever began it put it
	Result R      // what a job that ended without an error came to
}

// WorkState says how far a job is.
type WorkState string

// The states of work. After a crash, or before this process led, it is Unknown:
// what the job did can only be seen in the world.
const (
	WorkUnknown WorkState = ""
	WorkRunning WorkState = "Running"
	WorkEnded   WorkState = "Ended"
)

// Works is the read side of a kube.Worker.
type Works[R any] interface {
	Work(key Key) Work[R]
}
