package fleetfake

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"github.com/statecraft-dev/statecraft/internal/edge/fleet"
)

// Server is a Flight Control server.
type Server struct {
	// Down says that it does not answer.
	Down    bool
	Devices map[string]*Device
	// Edits counts the edits that were taken.
	Edits   int
	touches int
}

// Device is a device, as the server has it, and as it is.
type Device struct {
	Labels          map[string]string
	ResourceVersion int
	Owner           string
	Awaiting        bool // reconnection, after a restore
	Status          Status
	Agent           Agent

	spec snapshot
	// rendered is the last version that was rendered.
	rendered        snapshot
	RenderedVersion int
	// reading are specs that a worker has read and not rendered yet.
	reading []snapshot
}

// snapshot is a spec, as it was at some time.
type snapshot struct {
	text                 string
	fields               map[string]json.RawMessage
	applications, config []fleet.Entry
}

// Status is what the agent has reported.
type Status struct {
	Report
	Silent bool // the server's verdict
}

// New makes a server with these devices, which have applied an empty spec.
func New(names ...string) *Server {
	s := &Server{Devices: map[string]*Device{}}
	for _, name := range names {
		d := &Device{ResourceVersion: 1, Agent: NewAgent(), spec: snapshotOf([]byte(`{}`))}
		s.Devices[name] = d
		d.Read()
		d.Render(0)
		d.Apply()
		d.Report()
	}
	return s
}

// snapshotOf takes a spec apart. It is one that an edit has written, so what it cannot read is a bug of the test.
func snapshotOf(spec []byte) snapshot {
	out := snapshot{text: string(spec)}
	must(json.Unmarshal(spec, &out.fields))
	for field, entries := range map[string]*[]fleet.Entry{"applications": &out.applications, "config": &out.config} {
		var list []json.RawMessage
		if raw := out.fields[field]; raw != nil {
			must(json.Unmarshal(raw, &list))
		}
		for _, raw := range list {
			var named struct {
				Name string `json:"name"`
			}
			must(json.Unmarshal(raw, &named))
			*entries = append(*entries, fleet.Entry{Name: named.Name, Raw: raw})
		}
	}
	return out
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// Apply lets the agent take the last version that was rendered.
func (d *Device) Apply() { d.Agent.Take(d.RenderedVersion, Wanted(d.rendered.applications)) }

// Report lets the agent report, if it is heard.
func (d *Device) Report() {
	if d.Agent.Connected {
		d.Status, d.Awaiting = Status{Report: d.Agent.Report()}, false
		d.ResourceVersion++
	}
}

// Restart restarts the agent.
func (d *Device) Restart() { d.Agent.Restart() }

// Crash lets a container end, which is restarted.
func (d *Device) Crash(application string) { d.Agent.Crash(application) }

// Read lets a worker read the spec. What it renders of it may come late.
func (d *Device) Read() { d.reading = append(d.reading, d.spec) }

// Reading is how many specs workers have read and not rendered.
func (d *Device) Reading() int { return len(d.reading) }

// Render lets a worker render one of the specs that were read: 0 is the oldest. It does not look whether there is a newer one.
// A spec that equals the one that was rendered last makes no version.
func (d *Device) Render(which int) {
	if which >= len(d.reading) {
		return
	}
	from := d.reading[which]
	d.reading = slices.Delete(slices.Clone(d.reading), which, which+1)
	if from.text == d.rendered.text {
		return
	}
	d.rendered = from
	d.RenderedVersion = max(d.RenderedVersion, d.Status.Version) + 1
	d.ResourceVersion++
}

// MayStart says that an application was rendered, or may still be: a worker has read a spec with it.
func (d *Device) MayStart(application string) bool {
	return slices.ContainsFunc(append(slices.Clip(d.reading), d.rendered), func(s snapshot) bool { return fleet.Has(s.applications, application) })
}

// renderedFiles are the files of all config entries in one, as the server renders them.
func renderedFiles(config []fleet.Entry) []fleet.Entry {
	type file struct {
		Path            string `json:"path"`
		Content         string `json:"content"`
		ContentEncoding string `json:"contentEncoding"`
	}
	files := []file{}
	for _, e := range config {
		var entry struct {
			Inline []file `json:"inline"`
		}
		must(json.Unmarshal(e.Raw, &entry))
		for _, f := range entry.Inline {
			if f.ContentEncoding != "base64" {
				f.Content, f.ContentEncoding = base64.StdEncoding.EncodeToString([]byte(f.Content)), "base64"
			}
			files = append(files, f)
		}
	}
	raw, err := json.Marshal(map[string]any{"name": "", "inline": files})
	must(err)
	return []fleet.Entry{{Raw: raw}}
}

// seen is the device as the server answers it, with the entries of one of its specs.
func (d *Device) seen(name string, applications, config []fleet.Entry) fleet.Device {
	out := fleet.Device{
		Name: name, ResourceVersion: strconv.Itoa(d.ResourceVersion), Labels: d.Labels, Owner: d.Owner, AwaitingReconnect: d.Awaiting,
		Applications: applications, Config: config, Status: d.Status.seen(),
	}
	if d.RenderedVersion > 0 {
		out.RenderedVersion = strconv.Itoa(d.RenderedVersion)
	}
	return out
}

func (s Status) seen() fleet.Status {
	out := fleet.Status{
		ReportedVersion: strconv.Itoa(s.Version), Summary: fleet.Word{Status: fleet.Online}, Applications: s.Applications,
		Updating: s.Updating(), System: fleet.System{OperatingSystem: "linux", Architecture: "amd64"},
	}
	if s.Silent {
		out.Summary.Status = fleet.Unknown
	}
	return out
}

// document is the device as JSON, as far as an edit looks at it.
func (d *Device) document(name string) []byte {
	raw, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"name": name, "resourceVersion": strconv.Itoa(d.ResourceVersion)}, "spec": d.spec.fields, "status": map[string]any{},
	})
	must(err)
	return raw
}

// find finds a device, or says why it is not answered.
func (s *Server) find(name string) (*Device, error) {
	if s.Down {
		return nil, fleet.ErrUnreachable
	}
	d, is := s.Devices[name]
	if !is {
		return nil, fleet.ErrGone
	}
	return d, nil
}

// Get gives one device.
func (s *Server) Get(_ context.Context, name string) (fleet.Device, error) {
	d, err := s.find(name)
	if err != nil {
		return fleet.Device{}, err
	}
	return d.seen(name, d.spec.applications, d.spec.config), nil
}

// Rendered gives what was rendered of a device.
func (s *Server) Rendered(_ context.Context, name string) (fleet.Rendered, error) {
	d, err := s.find(name)
	switch {
	case err != nil:
		return fleet.Rendered{}, err
	case d.RenderedVersion == 0:
		return fleet.Rendered{}, fleet.ErrNotRendered
	}
	return fleet.Rendered(d.seen(name, d.rendered.applications, renderedFiles(d.rendered.config))), nil
}

// Edit edits a device as decide says. A worker reads the new spec at once, and renders it later.
func (s *Server) Edit(ctx context.Context, name string, decide func(fleet.Device) (fleet.Edit, error)) error {
	now, err := s.Get(ctx, name)
	if err != nil {
		return err
	}
	if now.Owner != "" {
		return fleet.WhyConflict(now)
	}
	read := s.Devices[name].document(name)
	edit, err := decide(now)
	if err != nil {
		return err
	}
	edited, changes, err := edit.Apply(read)
	if err != nil || !changes {
		return err
	}
	d, is := s.Devices[name]
	switch {
	case !is: // the edit makes a device without an agent, which is deleted again
		return fleet.ErrGhost
	case d.Owner != "":
		return fleet.WhyConflict(d.seen(name, nil, nil))
	case strconv.Itoa(d.ResourceVersion) != now.ResourceVersion:
		return s.Edit(ctx, name, decide)
	}
	var root struct {
		Spec json.RawMessage `json:"spec"`
	}
	must(json.Unmarshal(edited, &root))
	d.spec = snapshotOf(root.Spec)
	d.ResourceVersion++
	s.Edits++
	d.Read()
	return nil
}

// Touch is what a person does who changes another field of the spec.
func (s *Server) Touch(name string) {
	d := s.Devices[name]
	fields := maps.Clone(d.spec.fields)
	s.touches++
	fields["os"] = json.RawMessage(`{"image":"localhost/os:v` + strconv.Itoa(s.touches) + `"}`)
	raw, err := json.Marshal(fields)
	must(err)
	d.spec = snapshotOf(raw)
	d.ResourceVersion++
	d.Read()
}

// Replace is what a fleet does that captures a device: its template replaces the whole spec.
func (s *Server) Replace(name, owner string, spec string) {
	d := s.Devices[name]
	d.Owner, d.spec = owner, snapshotOf([]byte(spec))
	d.ResourceVersion++
	d.Read()
}
