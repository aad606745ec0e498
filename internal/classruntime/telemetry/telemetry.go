package telemetry

import (
	"context"
	"errors"

	"github.com/statecraft-dev/statecraft/internal/classruntime/load"
)

// Source says how functions are used.
type Source interface {
	// Look asks about functions. Every one of them has an answer, unless the source as a whole does not answer: that
	// is the error, which is ErrUnavailable.
	Look(ctx context.Context, subjects []Subject) (map[load.Key]Answer, error)
}

// Subject is a function to ask about.
type Subject struct {
	Key        load.Key
	Contract   load.Contract
	Percentile int32 // of the latency that is wanted: 1 to 99
}

// Answer is what a source says of one function.
type Answer struct {
	Facts load.Facts
	// Err is of the series of this function alone: ErrQueryInvalid or ErrUnavailable.
	Err error
}

// What may come of asking, besides an answer.
var (
	// ErrQueryInvalid: the contract of the class asks for what cannot be asked. It does not pass by waiting.
	ErrQueryInvalid = errors.New("query is invalid")
	// ErrUnavailable: the source did not answer, or not this time.
	ErrUnavailable = errors.New("source does not answer")
)
