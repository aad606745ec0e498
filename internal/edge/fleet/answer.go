package fleet

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"time"
)

// What answers of Flight Control mean, to be told apart by errors.Is and errors.As.
var (
	// ErrGone is of a device that Flight Control does not have.
	ErrGone = errors.New("no such device in Flight Control")
	// ErrConflict is of an edit that Flight Control did not take, by one answer for several reasons: WhyConflict tells which.
	ErrConflict = errors.New("the edit was not taken by Flight Control")
	// ErrStale is of an edit of a device that has changed since it was read. It is read and edited again.
	ErrStale = errors.New("the device has changed since it was read")
	// ErrGhost is of an edit that made a device: the one that was read is gone, and this one has no agent.
	ErrGhost = errors.New("the device was deleted meanwhile")
	// ErrNotRendered is of a device that no version was ever rendered for.
	ErrNotRendered = errors.New("no version was rendered for the device")
	// ErrDenied is of credentials that are not valid, or do not suffice.
	ErrDenied = errors.New("the credentials are refused by Flight Control")
	// ErrUnreachable is of no answer, or one that says that the server is in trouble. It says nothing of any device.
	ErrUnreachable = errors.New("no answer from Flight Control")
)

// Owned is of an edit of a device that a fleet has captured.
type Owned struct{ Owner string }

func (e *Owned) Error() string { return "the device belongs to " + e.Owner }

// Refused is of a request that Flight Control finds invalid: the same one fails again.
type Refused struct {
	Code    int
	Message string
}

func (e *Refused) Error() string {
	return fmt.Sprintf("Flight Control refuses with %d: %s", e.Code, e.Message)
}

// Limited is of a request beyond what Flight Control takes from one address.
type Limited struct{ After time.Duration }

func (e *Limited) Error() string {
	return fmt.Sprintf("Flight Control takes no requests for %s", e.After)
}

// The codes of answers, which are those of HTTP.
const (
	created         = 201
	unauthorized    = 401
	forbidden       = 403
	notFound        = 404
	timedOut        = 408
	conflict        = 409
	tooManyRequests = 429
	serverErrors    = 500
)

// ErrorOf is what an answer to a request means; nil is success. after is how long to wait, if the answer said so.
func ErrorOf(code int, body []byte, after time.Duration) error {
	switch {
	case code < 300:
		return nil
	case code == unauthorized || code == forbidden:
		return fmt.Errorf("%w: %d: %s", ErrDenied, code, messageOf(body))
	case code == notFound:
		return fmt.Errorf("%w: %s", ErrGone, messageOf(body))
	case code == conflict:
		return fmt.Errorf("%w: %s", ErrConflict, messageOf(body))
	case code == tooManyRequests:
		return &Limited{max(after, time.Second)}
	case code >= serverErrors || code == timedOut || code < 400: // a redirect leads elsewhere, which is not asked
		return fmt.Errorf("%w: %d: %s", ErrUnreachable, code, messageOf(body))
	}
	return &Refused{code, messageOf(body)}
}

// EditErrorOf is what the answer to an edit means. Flight Control makes the device if there is none any more, whatever version
// the edit was of.
func EditErrorOf(code int, body []byte, after time.Duration) error {
	if code == created {
		return ErrGhost
	}
	return ErrorOf(code, body, after)
}

// WhyConflict says why an edit was not taken, from the device as it is now: the answer is the same for all reasons.
func WhyConflict(now Device) error {
	switch {
	case now.Owner != "":
		return &Owned{now.Owner}
	case now.Decommissioning:
		return fmt.Errorf("%w: it is being decommissioned", ErrGone)
	}
	return ErrStale
}

// messageOf are the words of an answer, cut: what is no answer of Flight Control may be a page of a proxy.
func messageOf(body []byte) string {
	var status struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(body, &status) != nil || status.Message == "" {
		return "no message"
	}
	const longest = 512
	runes := []rune(status.Message)
	return string(runes[:min(len(runes), longest)])
}

// Where devices are found on the server.

// DevicesPath is a page of the list of devices that a selector of labels chooses.
func DevicesPath(selector, next string, limit int) string {
	query := url.Values{"limit": {fmt.Sprint(limit)}}
	if selector != "" {
		query.Set("labelSelector", selector)
	}
	if next != "" {
		query.Set("continue", next)
	}
	return "/api/v1/devices?" + query.Encode()
}

// DevicePath is one device.
func DevicePath(name string) string { return "/api/v1/devices/" + url.PathEscape(name) }

// RenderedPath is what was rendered of a device. Without a version that is known it is answered at once.
func RenderedPath(name string) string { return DevicePath(name) + "/rendered" }

// LastSeenPath is when a device was last heard.
func LastSeenPath(name string) string { return DevicePath(name) + "/lastseen" }
