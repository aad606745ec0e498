package devices

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
)

// Device is a device that the server has approved.
type Device struct {
	Name string

	agent, admin *asker
	labels       map[string]string
	known        string // the version that it has fetched last
}

// Application is what a device reports of an application.
type Application struct {
	Name, Status string
	Ready        string // such as 1/1
	Restarts     int
}

// Report is what a device reports of itself.
type Report struct {
	// Version is the rendered version that it has applied; "" is none.
	Version      string
	Applications []Application
	// Reason and Message are of the condition Updating, whose status is Updating; none is reported without a reason.
	Updating, Reason, Message string
	// System is what it says of its machine, besides what every device has to say.
	System map[string]string
}

func (r Report) status() object {
	if r.Version == "" {
		r.Version = "0"
	}
	applications := []object{}
	for _, a := range r.Applications {
		applications = append(applications, object{
			"name": a.Name, "status": a.Status, "ready": a.Ready, "restarts": a.Restarts, "embedded": false, "appType": "compose",
		})
	}
	conditions := []object{}
	if r.Reason != "" {
		conditions = append(conditions, object{
			"type": "Updating", "status": r.Updating, "reason": r.Reason, "message": r.Message, "lastTransitionTime": "2026-01-01T00:00:00Z",
		})
	}
	system := object{"architecture": "amd64", "operatingSystem": "linux", "bootID": "scripted", "agentVersion": "scripted"}
	for key, value := range r.System {
		system[key] = value
	}
	summary := "NoApplications"
	if len(applications) > 0 {
		summary = "Healthy"
	}
	return object{
		"conditions": conditions, "systemInfo": system, "applications": applications,
		"applicationsSummary": object{"status": summary},
		"resources":           object{"cpu": "Healthy", "memory": "Healthy", "disk": "Healthy"},
		"integrity":           object{"status": "Unknown"}, "config": object{"renderedVersion": r.Version},
		"os": object{"image": "", "imageDigest": ""}, "updated": object{"status": "Unknown"},
		"summary": object{"status": "Online"}, "lifecycle": object{"status": "Enrolled"},
	}
}

// Report tells the server how the device is.
func (d *Device) Report(ctx context.Context, r Report) error {
	_, err := d.agent.ask(ctx, http.MethodPut, "/devices/"+d.Name+"/status", object{
		"apiVersion": version, "kind": "Device", "metadata": object{"name": d.Name}, "status": r.status(),
	}, nil)
	return err
}

// Rendered is what the server has rendered for a device.
type Rendered struct {
	Version      string
	Applications []json.RawMessage
}

// Fetch gives what was rendered last, be it new or not; none if nothing was ever rendered.
func (d *Device) Fetch(ctx context.Context) (r Rendered, is bool, err error) { return d.fetch(ctx, "") }

// Await waits, as an agent does, until there is another version than the last that was fetched. none comes if the server has waited
// long enough.
func (d *Device) Await(ctx context.Context) (r Rendered, is bool, err error) {
	return d.fetch(ctx, "?knownRenderedVersion="+url.QueryEscape(d.known))
}

func (d *Device) fetch(ctx context.Context, query string) (r Rendered, is bool, err error) {
	var in struct {
		Metadata struct {
			Annotations map[string]string `json:"annotations"`
		} `json:"metadata"`
		Spec struct {
			Applications []json.RawMessage `json:"applications"`
		} `json:"spec"`
	}
	code, err := d.agent.ask(ctx, http.MethodGet, "/devices/"+d.Name+"/rendered"+query, nil, &in)
	switch {
	case code == http.StatusConflict: // nothing was ever rendered
		return r, false, nil
	case err != nil || code == http.StatusNoContent:
		return r, false, err
	}
	d.known = in.Metadata.Annotations["device-controller/renderedVersion"]
	return Rendered{Version: d.known, Applications: in.Spec.Applications}, true, nil
}
