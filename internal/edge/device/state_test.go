package device

import (
	"fmt"
	"math/rand/v2"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/statecraft-dev/statecraft/internal/edge/entry"
	"github.com/statecraft-dev/statecraft/internal/edge/fleet"
	"github.com/statecraft-dev/statecraft/internal/presence"
)

const (
	cluster = entry.Cluster("0a1b2c3d")
	app     = "sc-0a1b2c3d-6f1c9a52-7d1e-4f0a-9a58-3a4b5c6d7e8f"
	second  = "sc-0a1b2c3d-11111111-7d1e-4f0a-9a58-3a4b5c6d7e8f"
	foreign = "sc-ffffffff-6f1c9a52-7d1e-4f0a-9a58-3a4b5c6d7e8f"
)

// running is a device that has applied all that it should.
func running() fleet.Device {
	return fleet.Device{
		Name: "pump", RenderedVersion: "12", Applications: []fleet.Entry{{Name: "logger"}, {Name: app}},
		Status: fleet.Status{
			ReportedVersion: "12", Summary: fleet.Word{Status: fleet.Online}, Updated: fleet.Word{Status: "UpToDate"}, Lifecycle: "Enrolled",
			Applications: []fleet.Application{{Name: app, Status: fleet.AppRunning, Ready: 1, Of: 1}},
		},
	}
}

func TestTheStateOfADevice(t *testing.T) {
	for what, c := range map[string]struct {
		change func(*fleet.Device)
		state  State
		node   corev1.ConditionStatus
	}{
		"it runs what it should":    {func(*fleet.Device) {}, Connected, "True"},
		"its processor is too busy": {func(d *fleet.Device) { d.Status.Summary.Status = fleet.Error }, Connected, "True"},
		"its memory is scarce":      {func(d *fleet.Device) { d.Status.Summary.Status = fleet.Degraded }, Connected, "True"},
		"it has nothing and never had": {func(d *fleet.Device) {
			d.RenderedVersion, d.Status.ReportedVersion, d.Applications, d.Status.Applications = "", "0", nil, nil
		}, Connected, "True"},
		"a version is rendered and not applied":      {func(d *fleet.Device) { d.RenderedVersion = "13" }, Behind, "True"},
		"an application was added and not rendered":  {func(d *fleet.Device) { d.Applications = append(d.Applications, fleet.Entry{Name: second}) }, Behind, "True"},
		"one was removed and not rendered":           {func(d *fleet.Device) { d.Applications = nil }, Behind, "True"},
		"one was replaced by another":                {func(d *fleet.Device) { d.Applications[1].Name = second }, Behind, "True"},
		"its agent has just returned":                {func(d *fleet.Device) { d.Status.Applications = nil }, Behind, "True"},
		"the application of a person is not applied": {func(d *fleet.Device) { d.Applications[0].Name = "other" }, Connected, "True"},
		"no version is told":                         {func(d *fleet.Device) { d.RenderedVersion, d.Status.ReportedVersion = "", "" }, Behind, "True"},
		"another cluster has an application there":   {func(d *fleet.Device) { d.Applications[0].Name = foreign }, Shared, "True"},
		"another cluster has a file there":           {func(d *fleet.Device) { d.Config = []fleet.Entry{{Name: "sc-ffffffff-nudge"}} }, Shared, "True"},
		"it was not heard":                           {func(d *fleet.Device) { d.Status.Summary.Status = fleet.Unknown }, Silent, "Unknown"},
		"it was never heard":                         {func(d *fleet.Device) { d.Status = fleet.Status{} }, Silent, "Unknown"},
		"it restarts":                                {func(d *fleet.Device) { d.Status.Summary.Status = fleet.Rebooting }, Silent, "Unknown"},
		"it is switched off":                         {func(d *fleet.Device) { d.Status.Summary.Status = fleet.PoweredOff }, Silent, "Unknown"},
		"a word is not known":                        {func(d *fleet.Device) { d.Status.Summary.Status = "Dreaming" }, Silent, "Unknown"},
		"it was not heard since a restore":           {func(d *fleet.Device) { d.AwaitingReconnect = true }, Paused, "Unknown"},
		"the summary says that":                      {func(d *fleet.Device) { d.Status.Summary.Status = fleet.AwaitingReconnect }, Paused, "Unknown"},
		"it had a newer spec after a restore":        {func(d *fleet.Device) { d.ConflictPaused = true }, Paused, "True"},
		"the summary says so":                        {func(d *fleet.Device) { d.Status.Summary.Status = fleet.ConflictPaused }, Paused, "True"},
		"and is not heard": {func(d *fleet.Device) {
			d.Status.Summary.Status, d.Status.Updated.Status = fleet.ConflictPaused, fleet.Unknown
		}, Paused, "Unknown"},
		"and its summary tells":     {func(d *fleet.Device) { d.ConflictPaused, d.Status.Summary.Status = true, fleet.Unknown }, Paused, "Unknown"},
		"a fleet owns it":           {func(d *fleet.Device) { d.Owner = "Fleet/pumps" }, Captured, "False"},
		"a fleet owns it, unheard":  {func(d *fleet.Device) { d.Owner, d.Status.Summary.Status = "Fleet/pumps", fleet.Unknown }, Captured, "False"},
		"it is to be removed":       {func(d *fleet.Device) { d.Decommissioning = true }, Gone, "Unknown"},
		"it removes itself":         {func(d *fleet.Device) { d.Status.Lifecycle = fleet.Decommissioning }, Gone, "Unknown"},
		"it has removed itself":     {func(d *fleet.Device) { d.Status.Lifecycle = fleet.Decommissioned }, Gone, "Unknown"},
		"a fleet's that is removed": {func(d *fleet.Device) { d.Owner, d.Decommissioning = "Fleet/pumps", true }, Gone, "Unknown"},
	} {
		d := running()
		c.change(&d)
		if row := Of(cluster, Seen{presence.Here, d}); row.State != c.state || row.Node != c.node {
			t.Errorf("%s: %s, its Node is %s", what, row.State, row.Node)
		}
	}
	if row := Of(cluster, Seen{Sight: presence.Gone}); row.State != Gone {
		t.Errorf("Flight Control has it no more: %s", row.State)
	}
	for _, sight := range []presence.State{"", presence.Unknown, presence.Other} {
		if row := Of(cluster, Seen{sight, running()}); row.State != "" || row.Believed || row.Edited || row.Adds {
			t.Errorf("%q: a device that was not read is %s", sight, row.State)
		}
	}
}

// randomDevice is a device about which Flight Control says anything.
func randomDevice(r *rand.Rand) fleet.Device {
	pick := func(from ...string) string { return from[r.IntN(len(from))] }
	d := fleet.Device{
		Name: "pump", Owner: pick("", "", "", "Fleet/pumps"), RenderedVersion: pick("", "1", "2"), AwaitingReconnect: r.IntN(8) == 0, ConflictPaused: r.IntN(8) == 0, Decommissioning: r.IntN(8) == 0,
		Status: fleet.Status{
			ReportedVersion: pick("", "0", "1", "2"), Lifecycle: pick("Enrolled", "Enrolled", "Unknown", fleet.Decommissioned),
			Summary: fleet.Word{Status: pick(fleet.Online, fleet.Online, fleet.Degraded, fleet.Error, fleet.Rebooting, fleet.PoweredOff, fleet.Unknown, fleet.AwaitingReconnect, fleet.ConflictPaused, "")},
			Updated: fleet.Word{Status: pick("UpToDate", fleet.Unknown)},
		},
	}
	for _, name := range []string{app, second, foreign, "logger"} {
		if r.IntN(2) == 0 {
			d.Applications = append(d.Applications, fleet.Entry{Name: name})
		}
		if r.IntN(2) == 0 {
			d.Status.Applications = append(d.Status.Applications, fleet.Application{Name: name, Status: fleet.AppRunning, Ready: 1, Of: 1})
		}
	}
	return d
}

// Whatever Flight Control says: each state has its place, and what a state allows follows from it.
func TestWhatAStateAllows(t *testing.T) {
	met := map[string]bool{}
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		d := randomDevice(r)
		row := Of(cluster, Seen{presence.Here, d})
		met[row.When] = true
		err := func(words string) { t.Fatalf("%s: %s: %+v", row.State, words, d) }
		paused := d.AwaitingReconnect || d.ConflictPaused
		switch {
		case row.Edited && (d.Owner != "" || paused || d.Decommissioning):
			err("it is edited although Flight Control would refuse, or would not render it")
		case row.Adds && (!row.Edited || !row.Believed || !Settled(cluster, d)):
			err("a pod is added to a device that is not heard, or that has not applied the last one")
		case row.Believed && (d.Status.Summary.Status == fleet.Unknown || d.AwaitingReconnect || d.Owner != ""):
			err("an old report is believed")
		case row.Node == corev1.ConditionTrue && !row.Believed:
			err("its Node is Ready although it is not heard")
		}
		if _, is := Others(cluster, d); is && row.Adds {
			err("a pod is added beside those of another cluster")
		}
	}
	for _, row := range Table() {
		if !met[row.When] && row.Reason != "" {
			t.Errorf("no device is %s because %s", row.State, row.When)
		}
	}
}

// Rows are printed for people, so each says something of its own.
func TestRowsAreTold(t *testing.T) {
	words := map[string]bool{}
	for _, row := range Table() {
		if words[row.When] || row.When == "" || row.Reason == "" || row.Node == "" {
			t.Errorf("%+v", row)
		}
		words[row.When] = true
	}
}

func TestWhatAnAgentSays(t *testing.T) {
	of := func(reason, message string) fleet.Device {
		d := running()
		d.Status.Updating = fleet.Condition{Status: "True", Reason: reason, Message: message}
		return d
	}
	pull := "[2026-11-17 09:20:01] While Preparing: prefetch failed for imagehub.example.com/none:1: service unavailable (network issue)"
	if got := Says(of("ApplyingUpdate", pull)); got != "While Preparing: prefetch failed for imagehub.example.com/none:1: service unavailable (network issue)" {
		t.Errorf("%q", got)
	}
	for _, quiet := range []fleet.Device{
		running(), of("Updated", "Updated to desired renderedVersion: 12"), of("Preparing", "Device is preparing an update to renderedVersion: 13"), of("Updated", pull),
	} {
		if got := Says(quiet); got != "" {
			t.Errorf("%q", got)
		}
	}
	long := "..." + "xample.com/a/very/long/path/of/an/image/that/the/agent/cuts/off:1"
	for image, c := range map[string]struct {
		message string
		is      bool
	}{
		"imagehub.example.com/none:1":  {pull, true},
		"imagehub.example.com/other:1": {pull, false},
		"none:1":                       {pull, false},
		"imagehub.example.com/a/very/long/path/of/an/image/that/the/agent/cuts/off:1": {"[2026-11-17 09:20:01] While Preparing: prefetch failed for " + long + ": service unavailable", true},
		"a": {"[2026-11-17 09:20:01] While ApplyingUpdate: applications failed: an error occurred", false},
	} {
		if CannotPull(of("Error", c.message), image) != c.is {
			t.Errorf("%s by %q: %t", image, c.message, !c.is)
		}
	}
	for message, is := range map[string]bool{
		"[2026-11-17 09:20:01] While Preparing: update policy failed: precondition not met (waiting for dependencies)":    true,
		"[2026-11-17 09:20:01] While Preparing: download policy failed: precondition not met (waiting for dependencies)":  true,
		"[2026-11-17 09:20:01] While Preparing: resources failed for CPU: resource limit exceeded (CPU, memory, or disk)": true,
		pull: false, "": false, "update policy failed": false,
	} {
		if why, waits := Waits(of("ApplyingUpdate", message)); waits != is || is != (why != "") {
			t.Errorf("%q: %t, %q", message, waits, why)
		}
	}
	if GaveUp(of("ApplyingUpdate", pull)) || !GaveUp(of("Error", pull)) || GaveUp(running()) {
		t.Error("an agent that tries again is taken for one that gave up, or the other way round")
	}
	d := running()
	if d.Status.SpecValid = (fleet.Condition{Status: "True", Message: "fine"}); Unrendered(d) != "" {
		t.Error("a valid spec is not rendered")
	}
	if d.Status.SpecValid = (fleet.Condition{Status: "False", Message: "no repository"}); Unrendered(d) != "no repository" {
		t.Error("that a spec cannot be rendered is not told")
	}
}

func TestWhatNoSpecAsksFor(t *testing.T) {
	d := running()
	d.Status.Applications = append(d.Status.Applications, fleet.Application{Name: second}, fleet.Application{Name: foreign}, fleet.Application{Name: "old"})
	if got := fmt.Sprint(Unasked(cluster, d)); got != "["+second+"]" {
		t.Error(got)
	}
	if d.RenderedVersion = "13"; len(Unasked(cluster, d)) != 0 {
		t.Error("what is about to go is told")
	}
}
