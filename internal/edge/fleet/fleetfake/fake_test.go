package fleetfake

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/statecraft-dev/statecraft/internal/edge/fleet"
)

const compose = `{"appType":"compose","name":"NAME","inline":[{"path":"podman-compose.yaml","content":"services: {a: {image: IMAGE}}"}]}`

func edit(t *testing.T, s *Server, e fleet.Edit) {
	t.Helper()
	if err := s.Edit(t.Context(), "pump", func(fleet.Device) (fleet.Edit, error) { return e, nil }); err != nil {
		t.Fatal(err)
	}
}

func put(name, image string) fleet.Edit {
	raw := strings.NewReplacer("NAME", name, "IMAGE", image).Replace(compose)
	return fleet.Edit{Applications: map[string]json.RawMessage{name: json.RawMessage(raw)}}
}

func seen(t *testing.T, s *Server) (spec fleet.Device, rendered fleet.Rendered) {
	t.Helper()
	spec, err := s.Get(t.Context(), "pump")
	if err != nil {
		t.Fatal(err)
	}
	if rendered, err = s.Rendered(t.Context(), "pump"); err != nil {
		t.Fatal(err)
	}
	return spec, rendered
}

// all lets everything happen that is due.
func all(d *Device) {
	for d.Reading() > 0 {
		d.Render(0)
	}
	d.Apply()
	d.Report()
}

func TestAnEditIsRenderedLaterAndAppliedLaterStill(t *testing.T) {
	s := New("pump")
	d := s.Devices["pump"]
	edit(t, s, put("a", "x:1"))
	if spec, rendered := seen(t, s); !fleet.Has(spec.Applications, "a") || fleet.Has(rendered.Applications, "a") || spec.RenderedVersion != spec.Status.ReportedVersion {
		t.Errorf("%+v, %+v", spec, rendered)
	}
	d.Render(0)
	if spec, rendered := seen(t, s); !fleet.Has(rendered.Applications, "a") || spec.RenderedVersion == spec.Status.ReportedVersion || len(d.Agent.Running) > 0 {
		t.Errorf("%+v, %+v", spec, rendered)
	}
	d.Apply()
	if spec, _ := seen(t, s); d.Agent.Running["a"] != "x:1" || len(spec.Status.Applications) > 0 {
		t.Errorf("%+v, %+v", d.Agent, spec)
	}
	d.Report()
	if spec, _ := seen(t, s); spec.RenderedVersion != spec.Status.ReportedVersion || spec.Status.Applications[0] != (fleet.Application{Name: "a", Status: fleet.AppRunning, Ready: 1, Of: 1}) {
		t.Errorf("%+v", spec.Status)
	}
}

func TestAnOlderSpecMayBeRenderedAfterANewer(t *testing.T) {
	s := New("pump")
	d := s.Devices["pump"]
	edit(t, s, put("a", "x:1"))
	edit(t, s, fleet.Edit{Remove: []string{"a"}})
	if !d.MayStart("a") {
		t.Error("it is forgotten that a worker has read it")
	}
	d.Render(1) // equals what was rendered last
	d.Render(0)
	if spec, rendered := seen(t, s); fleet.Has(spec.Applications, "a") || !fleet.Has(rendered.Applications, "a") || rendered.RenderedVersion != "2" {
		t.Errorf("%+v, %+v", spec, rendered)
	}
}

func TestAVersionIsAppliedAllOrNothing(t *testing.T) {
	s := New("pump")
	d := s.Devices["pump"]
	edit(t, s, put("a", "x:1"))
	all(d)
	d.Agent.Unpullable["bad:1"] = true
	edit(t, s, put("b", "bad:1"))
	edit(t, s, fleet.Edit{Remove: []string{"a"}})
	all(d)
	if spec, _ := seen(t, s); d.Agent.Running["a"] == "" || spec.RenderedVersion == spec.Status.ReportedVersion || !strings.Contains(spec.Status.Updating.Message, "bad:1") {
		t.Errorf("%+v, %+v", d.Agent, spec.Status)
	}
	delete(d.Agent.Unpullable, "bad:1") // it tries again by itself
	all(d)
	if d.Agent.Running["a"] != "" || d.Agent.Running["b"] != "bad:1" {
		t.Errorf("%+v", d.Agent)
	}
}

func TestARemovalThatFailsIsNotTriedAgain(t *testing.T) {
	s := New("pump")
	d := s.Devices["pump"]
	edit(t, s, put("a", "x:1"))
	all(d)
	d.Agent.Unstoppable["a"] = true
	edit(t, s, fleet.Edit{Remove: []string{"a"}})
	all(d)
	delete(d.Agent.Unstoppable, "a")
	all(d)
	if spec, _ := seen(t, s); d.Agent.Running["a"] == "" || spec.Status.Updating.Reason != "Error" {
		t.Errorf("it is tried again by itself: %+v", spec.Status)
	}
	d.Restart()
	d.Apply()
	d.Report()
	if spec, _ := seen(t, s); d.Agent.Running["a"] != "" || len(spec.Status.Applications) > 0 {
		t.Errorf("%+v", spec.Status)
	}
}

func TestAnAgentThatReturnsReportsNothingAtFirst(t *testing.T) {
	s := New("pump")
	d := s.Devices["pump"]
	edit(t, s, put("a", "x:1"))
	all(d)
	d.Restart()
	d.Report()
	if spec, _ := seen(t, s); len(spec.Status.Applications) > 0 || spec.RenderedVersion != spec.Status.ReportedVersion || d.Agent.Running["a"] == "" {
		t.Errorf("%+v", spec.Status)
	}
	d.Report()
	if spec, _ := seen(t, s); len(spec.Status.Applications) != 1 {
		t.Errorf("%+v", spec.Status)
	}
}

func TestWhoIsNotAnswered(t *testing.T) {
	s := New("pump")
	s.Replace("pump", "Fleet/pumps", `{"applications":[{"name":"theirs"}]}`)
	var owned *fleet.Owned
	if err := s.Edit(t.Context(), "pump", func(fleet.Device) (fleet.Edit, error) { return put("a", "x:1"), nil }); !errors.As(err, &owned) {
		t.Error(err)
	}
	if _, err := s.Get(t.Context(), "valve"); !errors.Is(err, fleet.ErrGone) {
		t.Error(err)
	}
	if s.Down = true; errors.Is(s.Edit(t.Context(), "pump", nil), fleet.ErrUnreachable) != true {
		t.Error("it answers")
	}
	d := s.Devices["pump"]
	d.Agent.Connected = false
	all(d)
	if len(d.Agent.Running) > 0 {
		t.Error("a device that is cut off applies what it cannot read")
	}
}
