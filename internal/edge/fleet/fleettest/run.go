package fleettest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/statecraft-dev/statecraft/internal/edge/fleet"
	"github.com/statecraft-dev/statecraft/internal/script"
)

// errOwned stands for the error that names an owner.
var errOwned = errors.New("the device belongs to a fleet")

// Run runs every script in dir, each on a stage of its own.
//
//	put a localhost/x:1 [while=touched|captured|deleted]  an application of an image is put into the spec, while others do something
//	remove a                  the application is taken out of the spec
//	mark a                    its config entry, with a file, is put into the spec
//	worker down | up          nothing is rendered meanwhile
//	await rendered            until what is rendered is of the spec as it is
//	apply                     the agent takes the last version that was rendered, and reports
//	report                    it reports
//	restart                   it restarts; containers go on
//	crash a                   its container ends, and is restarted
//	unpullable localhost/x:1 | pullable localhost/x:1, unstoppable a | stoppable a
//	touch | capture | free | delete
//	show                      what the server says of the device
//	running                   what truly runs
func Run(t *testing.T, dir string, start func(t *testing.T) Stage) {
	begin := func(t *testing.T) script.Perform {
		s := &play{Stage: start(t)}
		return func(ctx context.Context, l script.Line) (string, error) {
			shown, err := s.perform(ctx, l)
			if owned := new(fleet.Owned); errors.As(err, &owned) {
				err = errOwned
			}
			return shown, err
		}
	}
	script.Run(t, dir, begin, errOwned, fleet.ErrGhost, fleet.ErrGone, fleet.ErrStale, fleet.ErrConflict, fleet.ErrNotRendered, fleet.ErrDenied, fleet.ErrUnreachable)
}

// play is one script on one stage.
type play struct{ Stage }

func (s *play) perform(ctx context.Context, l script.Line) (string, error) {
	switch l.Name {
	case "show":
		return s.show(ctx)
	case "running":
		return s.running(), nil
	case "put":
		return "", s.edit(ctx, l, fleet.Edit{Applications: entry(l.Word(0), application, "IMAGE", l.Word(1))})
	case "mark":
		return "", s.edit(ctx, l, fleet.Edit{Config: entry(l.Word(0), file)})
	case "remove":
		return "", s.edit(ctx, l, fleet.Edit{Remove: []string{l.Word(0)}})
	case "await":
		return "", s.await(ctx)
	case "worker":
		return "", s.Worker(ctx, l.Word(0) == "up")
	case "touch", "capture", "free", "delete":
		return "", s.others(ctx, l.Name)
	}
	return "", s.agent(ctx, l)
}

const (
	application = `{"appType":"compose","name":"NAME","inline":[{"path":"podman-compose.yaml","content":"services: {main: {image: IMAGE}}"}]}`
	file        = `{"name":"NAME","inline":[{"path":"/var/lib/NAME","content":"marked"}]}`
)

func entry(name, text string, also ...string) map[string]json.RawMessage {
	text = strings.NewReplacer(append(also, "NAME", name)...).Replace(text)
	return map[string]json.RawMessage{name: json.RawMessage(text)}
}

// edit edits the device. What others do in between happens once: the edit is decided upon anew then.
func (s *play) edit(ctx context.Context, l script.Line, e fleet.Edit) error {
	while := map[string]string{"": "", "touched": "touch", "captured": "capture", "deleted": "delete"}[l.Value("while")]
	return s.Edit(ctx, s.Device, func(fleet.Device) (fleet.Edit, error) {
		if what := while; what != "" {
			while = ""
			if err := s.others(ctx, what); err != nil {
				return fleet.Edit{}, fmt.Errorf("%s in between: %w", what, err)
			}
		}
		return e, nil
	})
}

func (s *play) others(ctx context.Context, what string) error {
	return map[string]func(context.Context) error{"touch": s.Touch, "capture": s.Capture, "free": s.Free, "delete": s.Delete}[what](ctx)
}

// agent is what happens on the device.
func (s *play) agent(ctx context.Context, l script.Line) error {
	switch what := l.Word(0); l.Name {
	case "apply":
		return errors.Join(s.Fetch(ctx), s.Report(ctx))
	case "report":
		return s.Report(ctx)
	case "restart":
		s.Agent.Restart()
	case "crash":
		s.Agent.Crash(what)
	case "unpullable", "pullable":
		s.Agent.Unpullable[what] = l.Name == "unpullable"
	case "unstoppable", "stoppable":
		s.Agent.Unstoppable[what] = l.Name == "unstoppable"
	default:
		return script.ErrUnknown
	}
	return nil
}

// await lets the server work until the spec is rendered as it is.
func (s *play) await(ctx context.Context) error {
	done := func() bool {
		now, err := s.Get(ctx, s.Device)
		rendered, err2 := s.Rendered(ctx, s.Device)
		return errors.Join(err, err2) == nil && names(now.Applications) == names(rendered.Applications) && files(now.Config) == files(rendered.Config)
	}
	if err := s.Until(ctx, done); err != nil {
		return err
	}
	if !done() {
		return script.ErrStill
	}
	return nil
}
