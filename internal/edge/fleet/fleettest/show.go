package fleettest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/statecraft-dev/statecraft/internal/edge/fleet"
)

// show is what the server says of the device. Versions are compared and not shown: a real server counts otherwise.
func (s *play) show(ctx context.Context) (string, error) {
	now, err := s.Get(ctx, s.Device)
	if err != nil {
		return "", err
	}
	rendered, err := s.Rendered(ctx, s.Device)
	if err != nil && !errors.Is(err, fleet.ErrNotRendered) {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "spec: %s; config: %s\n", names(now.Applications), names(now.Config))
	if err != nil {
		fmt.Fprintln(&b, "rendered: nothing yet")
	} else {
		fmt.Fprintf(&b, "rendered: %s; files: %s; reported: %s\n", names(rendered.Applications), files(rendered.Config), behind(rendered))
	}
	fmt.Fprintf(&b, "device: %s; updating: %s\n", cmpOwner(now), updating(now.Status.Updating))
	for _, a := range now.Status.Applications {
		fmt.Fprintf(&b, "reports %s: %s %d/%d, %d restarts\n", a.Name, a.Status, a.Ready, a.Of, a.Restarts)
	}
	return b.String(), nil
}

// behind says how what the agent has reported stands to what was rendered for it.
func behind(rendered fleet.Rendered) string {
	has, err := strconv.Atoi(rendered.RenderedVersion)
	said, err2 := strconv.Atoi(rendered.Status.ReportedVersion)
	switch {
	case err != nil || err2 != nil:
		return fmt.Sprintf("%q of %q", rendered.Status.ReportedVersion, rendered.RenderedVersion)
	case said == has:
		return "this version"
	case said < has:
		return "an earlier version"
	}
	return "a later version"
}

func cmpOwner(d fleet.Device) string {
	if d.Owner != "" {
		return "of a fleet"
	}
	return "of nobody"
}

// updating leaves out the time at the beginning of the agent's words.
func updating(c fleet.Condition) string {
	_, words, timed := strings.Cut(c.Message, "] ")
	if !timed {
		words = c.Message
	}
	return strings.Join([]string{c.Status, c.Reason, words}, " ")
}

func names(entries []fleet.Entry) string {
	list := make([]string, 0, len(entries))
	for _, e := range entries {
		list = append(list, e.Name)
	}
	slices.Sort(list)
	return orNone(list)
}

// files are the paths of all files of config entries: a server renders them into one entry without a name.
func files(entries []fleet.Entry) string {
	list := []string{}
	for _, e := range entries {
		var in struct {
			Inline []struct {
				Path string `json:"path"`
			} `json:"inline"`
		}
		if json.Unmarshal(e.Raw, &in) != nil {
			list = append(list, "?")
		}
		for _, f := range in.Inline {
			list = append(list, f.Path)
		}
	}
	slices.Sort(list)
	return orNone(list)
}

func orNone(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, ", ")
}

// running is what truly runs.
func (s *play) running() string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(s.Agent.Running)) {
		list = append(list, name+" ("+s.Agent.Running[name]+")")
	}
	return orNone(list) + "\n"
}
