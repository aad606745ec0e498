package wire

import (
	"errors"
	"fmt"
	"strings"
)

// What may come of asking or telling a server, besides success.
var (
	// ErrUnreachable: nothing answered in time. A command may have been carried out.
	ErrUnreachable = errors.New("server does not answer")
	// ErrConnectionRefused: nothing listens at this address. It counts as not answering, too.
	ErrConnectionRefused = errors.New("nobody listens there")
	// ErrOtherServer: the one that answers is not the one meant.
	ErrOtherServer = errors.New("another server answers at this address")
	// ErrLoading: it is still reading its data.
	ErrLoading = errors.New("server is loading its data")
	// ErrDenied: the user that the operator logs on as may not do this.
	ErrDenied = errors.New("server denies access")
	// ErrUnknownPeer: it has not heard yet of a server that the command names.
	ErrUnknownPeer = errors.New("server does not know that peer")
	// ErrNotBlank: it holds what the command would put at risk.
	ErrNotBlank = errors.New("server holds keys, slots or a role")
	// ErrRefused: it refuses for another reason.
	ErrRefused = errors.New("server refuses")
	// ErrMalformed: its answer cannot be understood.
	ErrMalformed = errors.New("answer cannot be understood")
)

// errTooOld is the refusal of a command that is not known yet.
var errTooOld = fmt.Errorf("%w what it does not know", ErrRefused)

// errIdle is the refusal to cancel where nothing is under way.
var errIdle = fmt.Errorf("%w to cancel nothing", ErrRefused)

// refusal gives a server's error reply its type.
func refusal(reply string) error {
	reply = strings.TrimPrefix(reply, "ERR ") // which says nothing, and clients drop it
	code, _, _ := strings.Cut(reply, " ")
	kind := ErrRefused
	switch {
	case code == "LOADING" || code == "MASTERDOWN":
		kind = ErrLoading
	case code == "NOAUTH" || code == "NOPERM" || code == "WRONGPASS":
		kind = ErrDenied
	case strings.HasPrefix(reply, "unknown subcommand"):
		kind = errTooOld
	case strings.HasPrefix(reply, "No migrations ongoing"):
		kind = errIdle
	case strings.HasPrefix(reply, "Unknown node"), strings.HasPrefix(reply, "I don't know about node"):
		kind = ErrUnknownPeer
	case strings.Contains(reply, "is already busy"), strings.Contains(reply, "must be empty"),
		strings.Contains(reply, "containing keys"), strings.Contains(reply, "still hold keys"):
		kind = ErrNotBlank
	}
	return fmt.Errorf("%w: %s", kind, reply)
}
