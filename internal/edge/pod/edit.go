package pod

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/statecraft-dev/statecraft/internal/edge/device"
	"github.com/statecraft-dev/statecraft/internal/edge/entry"
	"github.com/statecraft-dev/statecraft/internal/edge/fleet"
	"github.com/statecraft-dev/statecraft/internal/edge/spec"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/presence"
)

// Edits of devices are decided twice: by the machine, from what was read some time ago, and here, from the device as it is in
// the read before its edit. Two pods may have decided at once.

// Edit is what sending does to the device as it is now, beside these pods of it.
func (e Send) Edit(c entry.Cluster, now fleet.Device, built spec.Conversion, others []*Pod) (fleet.Edit, error) {
	if image := imageIn(now.Applications, e.Application); image == e.Image {
		return fleet.Edit{}, nil // it is there: an answer was lost
	}
	if row := device.Of(c, device.Seen{Sight: presence.Here, Device: now}); !row.Adds {
		return fleet.Edit{}, outdated("device %s takes no pod now: it is %s", now.Name, row.State)
	}
	this, _ := c.Pod(e.Application)
	if name, _ := newcomer(c, now, this, others); name != "" {
		return fleet.Edit{}, outdated("device %s takes no pod now: %s is on its way", now.Name, name)
	}
	if built.Application == nil || built.Application.Name != e.Application {
		return fleet.Edit{}, outdated("what %s is made of has changed", e.Application)
	}
	edit := fleet.Edit{Applications: map[string]json.RawMessage{}, Config: map[string]json.RawMessage{}}
	raw, err := json.Marshal(built.Application)
	if err != nil {
		return fleet.Edit{}, fmt.Errorf("encode application %s: %w", e.Application, err)
	}
	if image, is := spec.ImageOf(raw); !is || image != e.Image {
		return fleet.Edit{}, outdated("the image of %s has changed", e.Application)
	}
	edit.Applications[e.Application] = raw
	if built.Config == nil {
		edit.Remove = []string{e.Application} // a config entry of the version that it replaces
		return edit, nil
	}
	if edit.Config[e.Application], err = json.Marshal(built.Config); err != nil {
		return fleet.Edit{}, fmt.Errorf("encode files of %s: %w", e.Application, err)
	}
	return edit, nil
}

// Edit is what removing does to the device as it is now. A newcomer that it runs by now stays. What the device does not report may
// be rendered only now, of an older spec, so the spec is marked: what was rendered is compared with the mark. Of a device on
// which nothing of ours is left the mark goes, too.
func (e Remove) Edit(c entry.Cluster, now fleet.Device) (fleet.Edit, error) {
	if err := editable(c, now); err != nil {
		return fleet.Edit{}, err
	}
	edit := fleet.Edit{Remove: []string{e.Application}}
	if e.Newcomer != "" && !e.arrived(c, now) {
		edit.Remove = append(edit.Remove, e.Newcomer)
	}
	if slices.ContainsFunc(edit.Remove, func(name string) bool {
		_, reported := now.Status.Reported(name)
		return fleet.Has(now.Applications, name) && !reported
	}) {
		mark, err := marked(c, strconv.FormatInt(e.At, 10)+" "+now.ResourceVersion)
		edit.Config = mark
		return edit, err
	}
	if !slices.ContainsFunc(now.Applications, func(a fleet.Entry) bool {
		_, ours := c.Pod(a.Name)
		return ours && !slices.Contains(edit.Remove, a.Name)
	}) {
		edit.Remove = append(edit.Remove, c.Nudge())
	}
	return edit, nil
}

// arrived says that the device runs the newcomer. One that replaces an image is reported in either case, so that only a
// device which has applied everything tells.
func (e Remove) arrived(c entry.Cluster, now fleet.Device) bool {
	if e.Replaces {
		return device.Settled(c, now)
	}
	_, reported := now.Status.Reported(e.Newcomer)
	return reported
}

// Edit is what a nudge does to the device as it is now.
func (e Nudge) Edit(c entry.Cluster, now fleet.Device) (fleet.Edit, error) {
	if err := editable(c, now); err != nil {
		return fleet.Edit{}, err
	}
	mark, err := marked(c, strconv.FormatInt(e.At, 10))
	return fleet.Edit{Config: mark}, err
}

// marked is the config entry with a mark.
func marked(c entry.Cluster, content string) (map[string]json.RawMessage, error) {
	raw, err := json.Marshal(spec.Config{Name: c.Nudge(), Inline: []spec.File{{Path: c.NudgeFile(), Content: content, Mode: nudgeMode}}})
	if err != nil {
		return nil, fmt.Errorf("encode the mark: %w", err)
	}
	return map[string]json.RawMessage{c.Nudge(): raw}, nil
}

const nudgeMode = 0o444

func editable(c entry.Cluster, now fleet.Device) error {
	if row := device.Of(c, device.Seen{Sight: presence.Here, Device: now}); !row.Edited {
		return outdated("device %s must not be edited: it is %s", now.Name, row.State)
	}
	return nil
}

// outdated is that what was decided upon is no longer so.
func outdated(format string, args ...any) error {
	return &fsm.Error{Class: fsm.Changed, Err: fmt.Errorf(format, args...)}
}
