package device

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/statecraft-dev/statecraft/internal/edge/fleet"
)

// Each of the lies that devices and servers were seen to tell leaves a doubt.
func TestNoLieMakesAnApplicationGone(t *testing.T) {
	without := func(change ...func(*fleet.Device)) fleet.Device {
		d := running()
		d.RenderedVersion, d.Status.ReportedVersion = "13", "13"
		d.Applications, d.Status.Applications = []fleet.Entry{{Name: "logger"}}, nil
		for _, c := range change {
			c(&d)
		}
		return d
	}
	rendered := func(change ...func(*fleet.Device)) *fleet.Rendered {
		r := fleet.Rendered(without(change...))
		return &r
	}
	has := func(d *fleet.Device) { d.Applications = append(d.Applications, fleet.Entry{Name: app}) }
	reports := func(d *fleet.Device) { d.Status.Applications = []fleet.Application{{Name: app, Status: "Unknown"}} }
	reported := func(version string) func(*fleet.Device) {
		return func(d *fleet.Device) { d.Status.ReportedVersion = version }
	}
	marked := func(encoding, content string) func(*fleet.Device) {
		return func(d *fleet.Device) {
			raw := `{"inline":[{"path":"/etc/motd"},{"path":"/var/lib/statecraft/nudge-0a1b2c3d","content":"` + content + `","contentEncoding":"` + encoding + `"}]}`
			d.Config = []fleet.Entry{{Name: "motd", Raw: []byte(`{}`)}, {Raw: []byte(`"odd"`)}, {Raw: []byte(raw)}}
		}
	}
	for what, c := range map[string]struct {
		live     fleet.Device
		rendered *fleet.Rendered
		doubt    Doubt
	}{
		"it is gone":                                                {without(), rendered(), ""},
		"it was not removed":                                        {without(has), rendered(), StillInSpec},
		"only the spec was read":                                    {without(), nil, NotLooked},
		"what was rendered is another device's":                     {without(), rendered(func(d *fleet.Device) { d.Name = "valve" }), NotLooked},
		"the worker is down, and the agent has just returned":       {without(), rendered(has), StillInRendered},
		"an older spec was rendered since":                          {without(), rendered(has, reports), StillInRendered},
		"it was never rendered, and an older spec with it may come": {without(marked("plain", "7 91")), rendered(), NotRendered},
		"the same, with an older mark":                              {without(marked("plain", "7 91")), rendered(marked("base64", "NyA5MA==")), NotRendered},
		"the mark was taken off":                                    {without(), rendered(marked("base64", "NyA5MQ==")), NotRendered},
		"a mark that cannot be read":                                {without(marked("plain", "7 91")), rendered(marked("base64", "?")), NotRendered},
		"it is gone, by its mark":                                   {without(marked("plain", "7 91")), rendered(marked("base64", "NyA5MQ==")), ""},
		"a fleet has replaced the spec":                             {without(func(d *fleet.Device) { d.Applications[0].Name = "theirs" }), rendered(), NotRendered},
		"a person has added another":                                {without(func(d *fleet.Device) { d.Applications = append(d.Applications, fleet.Entry{}) }), rendered(), NotRendered},
		"the agent has not applied it":                              {without(), rendered(reported("12")), NotApplied},
		"the agent is ahead of the server":                          {without(), rendered(reported("14")), NotApplied},
		"no version was ever rendered":                              {without(), rendered(reported(""), func(d *fleet.Device) { d.RenderedVersion = "" }), NotApplied},
		"the removal failed, and was rolled back":                   {without(), rendered(reports, reported("12")), NotApplied},
		"the agent still stops it":                                  {without(), rendered(reports), StillReported},
		"the server was restored, and has not heard it":             {without(), rendered(func(d *fleet.Device) { d.AwaitingReconnect = true }), SinceRestore},
		"the summary says so":                                       {without(func(d *fleet.Device) { d.Status.Summary.Status = fleet.AwaitingReconnect }), rendered(), SinceRestore},
		"it is gone from a silent device":                           {without(), rendered(func(d *fleet.Device) { d.Status.Summary.Status = fleet.Unknown }), ""},
	} {
		evidence, doubt := LookFor(cluster, c.live, c.rendered, app).Gone()
		if doubt != c.doubt || (evidence == "") != (doubt != "") {
			t.Errorf("%s: %q, %q", what, doubt, evidence)
		}
		if doubt == "" && !strings.Contains(evidence, "version 13") {
			t.Errorf("%s: %s", what, evidence)
		}
	}
	if _, doubt := (Look{}).Gone(); doubt == "" {
		t.Error("nothing was seen, and it is gone")
	}
}

// An application is gone only if all was seen that shows it, whatever else is said.
func TestGoneNeedsAll(t *testing.T) {
	r, gone := rand.New(rand.NewPCG(3, 4)), 0
	for range 20_000 {
		live, rendered := randomDevice(r), fleet.Rendered(randomDevice(r))
		if r.IntN(2) == 0 {
			rendered.Applications = live.Applications
		}
		_, doubt := LookFor(cluster, live, &rendered, app).Gone()
		_, reports := rendered.Status.Reported(app)
		all := !fleet.Has(live.Applications, app) && !fleet.Has(rendered.Applications, app) && !reports &&
			rendered.RenderedVersion != "" && rendered.RenderedVersion == rendered.Status.ReportedVersion
		if doubt == "" && !all {
			t.Fatalf("%+v\n%+v", live, rendered)
		}
		if doubt == "" {
			gone++
		}
	}
	if gone < 50 {
		t.Errorf("only %d are gone", gone)
	}
}
