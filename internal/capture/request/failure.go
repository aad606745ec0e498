package request

import (
	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// FailureOf is why a request came to be cleaned up: its last move to that phase says so.
// It is kept beside the history, which only remembers the last moves.
func FailureOf(p *meta.Progress, cleaning fsm.Phase) *capturev1.RequestFailure {
	move, moved := p.LastMove(cleaning)
	if !moved {
		move.Reason, move.Message = fsm.Reason(fsm.Lost), "The status was lost, and with it why the request failed."
	}
	return &capturev1.RequestFailure{Reason: move.Reason, Message: move.Message}
}
