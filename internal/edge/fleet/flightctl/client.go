// Package flightctl asks a Flight Control server for devices, and edits them. What its answers mean is decided in package fleet.
package flightctl

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/statecraft-dev/statecraft/internal/edge/fleet"
)

const (
	pageSize = 1000     // the most that Flight Control gives at once
	largest  = 64 << 20 // no answer is longer: a page has about 2 MiB
	attempts = 5        // of an edit whose device changes meanwhile: every report of its agent is a change
)

// Client asks one Flight Control server. It may be used by several at once.
type Client struct {
	url   string
	http  *http.Client
	token func() (string, error)
	now   func() time.Time

	mu     sync.Mutex
	budget fleet.Budget
}

// New makes a client of the server at a URL, which has no path. The transport knows the server's certificate authority; the
// token is asked for with each request, because tokens are replaced while programs run.
func New(url string, transport http.RoundTripper, token func() (string, error), now func() time.Time) *Client {
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse } // or the token would go elsewhere
	return &Client{url: strings.TrimSuffix(url, "/"), http: &http.Client{Transport: transport, CheckRedirect: stay}, token: token, now: now}
}

// Budget is how many requests the server still takes, as it said last.
func (c *Client) Budget() fleet.Budget {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.budget
}

// List gives a page of the devices that a selector of labels chooses; next leads to it from the page before.
func (c *Client) List(ctx context.Context, selector, next string) (fleet.Page, error) {
	body, err := c.read(ctx, fleet.DevicesPath(selector, next, pageSize))
	if err != nil {
		return fleet.Page{}, fmt.Errorf("list devices: %w", err)
	}
	return fleet.DecodePage(body)
}

// Get gives one device.
func (c *Client) Get(ctx context.Context, name string) (fleet.Device, error) {
	d, _, err := c.get(ctx, name)
	return d, err
}

func (c *Client) get(ctx context.Context, name string) (d fleet.Device, document []byte, err error) {
	if document, err = c.read(ctx, fleet.DevicePath(name)); err != nil {
		return d, nil, fmt.Errorf("get device %s: %w", name, err)
	}
	if d, err = fleet.DecodeDevice(document); err == nil && d.Name != name {
		err = fmt.Errorf("get device %s: %w: it is %s", name, fleet.ErrUnread, d.Name)
	}
	return d, document, err
}

// Rendered gives what was rendered of a device, or ErrNotRendered.
func (c *Client) Rendered(ctx context.Context, name string) (fleet.Rendered, error) {
	body, err := c.read(ctx, fleet.RenderedPath(name))
	if errors.Is(err, fleet.ErrConflict) {
		err = fmt.Errorf("%w: %w", fleet.ErrNotRendered, err)
	}
	if err != nil {
		return fleet.Rendered{}, fmt.Errorf("get what was rendered of device %s: %w", name, err)
	}
	return fleet.DecodeRendered(body)
}

// LastSeen says when a device was last heard; false is never.
func (c *Client) LastSeen(ctx context.Context, name string) (at time.Time, is bool, err error) {
	body, err := c.read(ctx, fleet.LastSeenPath(name))
	if err != nil || len(body) == 0 {
		return at, false, err
	}
	at, err = fleet.DecodeLastSeen(body)
	return at, err == nil && !at.IsZero(), err
}

// Decide says what to edit of a device as it is now, or why nothing. It may be asked several times.
type Decide = func(now fleet.Device) (fleet.Edit, error)

// Edit reads a device, and writes what decide says. If the device has changed meanwhile it is read and decided upon again; of one
// that a fleet owns, or that is gone, it says so. An edit that changes nothing is not written.
func (c *Client) Edit(ctx context.Context, name string, decide Decide) error {
	for range attempts {
		now, document, err := c.get(ctx, name)
		if err != nil {
			return err
		}
		if now.Owner != "" { // the answer would be the same as for a change
			return fmt.Errorf("edit device %s: %w", name, fleet.WhyConflict(now))
		}
		edit, err := decide(now)
		if err != nil {
			return err
		}
		edited, changes, err := edit.Apply(document)
		if err != nil || !changes {
			return err
		}
		err = c.put(ctx, name, edited)
		if !errors.Is(err, fleet.ErrConflict) {
			return err
		}
		if now, err = c.Get(ctx, name); err != nil {
			return err
		}
		if why := fleet.WhyConflict(now); !errors.Is(why, fleet.ErrStale) {
			return fmt.Errorf("edit device %s: %w", name, why)
		}
	}
	return fmt.Errorf("edit device %s: %w", name, fleet.ErrStale)
}

// put writes a device in the version that was read. If that made it, because it was deleted meanwhile, what was made goes
// again: it has no agent, and would keep the name from the device when it enrolls anew.
func (c *Client) put(ctx context.Context, name string, document []byte) error {
	code, body, err := c.ask(ctx, http.MethodPut, fleet.DevicePath(name), document)
	if err != nil {
		return fmt.Errorf("edit device %s: %w", name, err)
	}
	err = fleet.EditErrorOf(code, body, c.Budget().Wait(c.now()))
	if errors.Is(err, fleet.ErrGhost) {
		return fmt.Errorf("edit device %s: %w", name, errors.Join(err, c.deleteGhost(ctx, name)))
	}
	if err != nil {
		return fmt.Errorf("edit device %s: %w", name, err)
	}
	return nil
}

// deleteGhost deletes a device that an edit made. One that has reported since is no ghost: its agent enrolled in between.
func (c *Client) deleteGhost(ctx context.Context, name string) error {
	d, err := c.Get(ctx, name)
	if errors.Is(err, fleet.ErrGone) {
		return nil
	}
	if err != nil {
		return err
	}
	if !d.Ghost() {
		return nil
	}
	code, body, err := c.ask(ctx, http.MethodDelete, fleet.DevicePath(name), nil)
	if err == nil {
		err = fleet.ErrorOf(code, body, c.Budget().Wait(c.now()))
	}
	if err != nil && !errors.Is(err, fleet.ErrGone) {
		return fmt.Errorf("delete the device without an agent: %w", err)
	}
	return nil
}

// read is a GET whose answer is wanted.
func (c *Client) read(ctx context.Context, path string) ([]byte, error) {
	code, body, err := c.ask(ctx, http.MethodGet, path, nil)
	if err != nil {
		return nil, err
	}
	return body, fleet.ErrorOf(code, body, c.Budget().Wait(c.now()))
}

// ask makes one request, unless the server said that it takes none yet.
func (c *Client) ask(ctx context.Context, method, path string, content []byte) (code int, body []byte, err error) {
	if wait := c.Budget().Wait(c.now()); wait > 0 {
		return 0, nil, &fleet.Limited{After: wait}
	}
	token, err := c.token()
	if err != nil {
		return 0, nil, fmt.Errorf("%w: %w", fleet.ErrDenied, err)
	}
	request, err := http.NewRequestWithContext(ctx, method, c.url+path, bytes.NewReader(content))
	if err != nil {
		return 0, nil, err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Accept", "application/json")
	if content != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	answer, err := c.http.Do(request)
	if err != nil {
		return 0, nil, fmt.Errorf("%w: %w", fleet.ErrUnreachable, err)
	}
	defer answer.Body.Close() //nolint:errcheck // it was read, or is not wanted
	c.note(answer)
	body, err = io.ReadAll(io.LimitReader(answer.Body, largest+1))
	switch {
	case err != nil:
		return 0, nil, fmt.Errorf("%w: %w", fleet.ErrUnreachable, err)
	case len(body) > largest:
		return 0, nil, fmt.Errorf("%w: it is longer than %d bytes", fleet.ErrUnread, largest)
	}
	return answer.StatusCode, body, nil
}

func (c *Client) note(answer *http.Response) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.budget = c.budget.Next(answer.StatusCode, answer.Header.Get, c.now())
}
