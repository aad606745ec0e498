package fleet

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ErrUnread is of an answer that is not what Flight Control answers.
var ErrUnread = errors.New("the answer of Flight Control cannot be read")

// The annotations that Flight Control puts on devices.
const (
	renderedVersion   = "device-controller/renderedVersion"
	awaitingReconnect = "device-controller/awaitingReconnect"
	conflictPaused    = "device-controller/conflictPaused"
)

// The conditions of a device that are looked at.
const (
	updating  = "Updating"
	specValid = "SpecValid"
)

// device is a device as Flight Control writes it.
type device struct {
	Metadata struct {
		Name            string            `json:"name"`
		ResourceVersion string            `json:"resourceVersion"`
		Labels          map[string]string `json:"labels"`
		Annotations     map[string]string `json:"annotations"`
		Owner           string            `json:"owner"`
	} `json:"metadata"`
	Spec struct {
		Applications    []json.RawMessage `json:"applications"`
		Config          []json.RawMessage `json:"config"`
		Decommissioning json.RawMessage   `json:"decommissioning"`
	} `json:"spec"`
	Status struct {
		Config struct {
			RenderedVersion string `json:"renderedVersion"`
		} `json:"config"`
		Summary    Word `json:"summary"`
		Updated    Word `json:"updated"`
		Lifecycle  Word `json:"lifecycle"`
		Conditions []struct {
			Type string `json:"type"`
			Condition
		} `json:"conditions"`
		Applications []struct {
			Name     string `json:"name"`
			Status   string `json:"status"`
			Ready    string `json:"ready"`
			Restarts int    `json:"restarts"`
		} `json:"applications"`
		SystemInfo struct {
			OperatingSystem string `json:"operatingSystem"`
			Architecture    string `json:"architecture"`
			Cores           number `json:"cpuCores"`
			MemoryKiB       number `json:"memoryTotalKb"`
		} `json:"systemInfo"`
	} `json:"status"`
}

// number is one that agents report as text. What is none is not known.
type number int64

// UnmarshalJSON implements json.Unmarshaler.
func (n *number) UnmarshalJSON(text []byte) error {
	value, err := strconv.ParseInt(strings.Trim(string(text), `" `), 10, 64)
	if *n = number(value); err != nil || value < 0 {
		*n = 0
	}
	return nil
}

// DecodeDevice reads the answer to a GET of a device.
func DecodeDevice(raw []byte) (Device, error) {
	var in device
	if err := json.Unmarshal(raw, &in); err != nil {
		return Device{}, fmt.Errorf("%w: device: %w", ErrUnread, err)
	}
	if in.Metadata.Name == "" {
		return Device{}, fmt.Errorf("%w: a device without a name", ErrUnread)
	}
	out := Device{
		Name: in.Metadata.Name, ResourceVersion: in.Metadata.ResourceVersion, Labels: in.Metadata.Labels, Owner: in.Metadata.Owner,
		RenderedVersion:   in.Metadata.Annotations[renderedVersion],
		AwaitingReconnect: in.Metadata.Annotations[awaitingReconnect] == "true",
		ConflictPaused:    in.Metadata.Annotations[conflictPaused] == "true",
		Decommissioning:   present(in.Spec.Decommissioning),
		Applications:      entries(in.Spec.Applications),
		Config:            entries(in.Spec.Config),
	}
	out.Status = in.status()
	return out, nil
}

func (in device) status() Status {
	out := Status{
		ReportedVersion: in.Status.Config.RenderedVersion, Summary: in.Status.Summary, Updated: in.Status.Updated, Lifecycle: in.Status.Lifecycle.Status,
		System: System{
			OperatingSystem: in.Status.SystemInfo.OperatingSystem, Architecture: in.Status.SystemInfo.Architecture,
			Cores: int64(in.Status.SystemInfo.Cores), MemoryKiB: int64(in.Status.SystemInfo.MemoryKiB),
		},
	}
	for _, c := range in.Status.Conditions {
		switch c.Type {
		case updating:
			out.Updating = c.Condition
		case specValid:
			out.SpecValid = c.Condition
		}
	}
	for _, a := range in.Status.Applications {
		ready, of := counts(a.Ready)
		out.Applications = append(out.Applications, Application{Name: a.Name, Status: a.Status, Ready: ready, Of: of, Restarts: max(a.Restarts, 0)})
	}
	return out
}

// present says that something is there, and not null.
func present(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// entries reads the names of entries. One without a name, or of a form that is not known, has none, and is never ours.
func entries(raw []json.RawMessage) (list []Entry) {
	for _, r := range raw {
		list = append(list, EntryOf(r))
	}
	return list
}

// EntryOf is one entry of a spec.
func EntryOf(raw json.RawMessage) Entry { return Entry{Name: nameOf(raw), Raw: raw} }

func nameOf(raw json.RawMessage) string {
	var named struct {
		Name string `json:"name"`
	}
	if json.Unmarshal(raw, &named) != nil {
		return ""
	}
	return named.Name
}

// counts reads 1/2. What is not of that form is none of none.
func counts(text string) (ready, of int) {
	first, second, is := strings.Cut(text, "/")
	ready, err := strconv.Atoi(first)
	of, err2 := strconv.Atoi(second)
	if !is || err != nil || err2 != nil || ready < 0 || of < 0 {
		return 0, 0
	}
	return ready, of
}

// DecodeRendered reads the answer to a GET of what was rendered of a device.
func DecodeRendered(raw []byte) (Rendered, error) {
	d, err := DecodeDevice(raw)
	return Rendered(d), err
}

// DecodePage reads a page of the list of devices. One that cannot be read does not hide the others.
func DecodePage(raw []byte) (Page, error) {
	var in struct {
		Items    *[]json.RawMessage `json:"items"`
		Metadata struct {
			Continue string `json:"continue"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return Page{}, fmt.Errorf("%w: list of devices: %w", ErrUnread, err)
	}
	if in.Items == nil { // an answer that is none must not look like no device
		return Page{}, fmt.Errorf("%w: a list of devices without items", ErrUnread)
	}
	page := Page{Continue: in.Metadata.Continue}
	for _, item := range *in.Items {
		d, err := DecodeDevice(item)
		if err != nil {
			page.Unread = append(page.Unread, metadataName(item))
			continue
		}
		page.Devices = append(page.Devices, d)
	}
	return page, nil
}

func metadataName(raw json.RawMessage) string {
	var named struct {
		Metadata struct {
			Name string `json:"name"`
		} `json:"metadata"`
	}
	if json.Unmarshal(raw, &named) != nil {
		return ""
	}
	return named.Metadata.Name
}

// DecodeLastSeen reads when a device was last heard.
func DecodeLastSeen(raw []byte) (time.Time, error) {
	var in struct {
		LastSeen time.Time `json:"lastSeen"`
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return time.Time{}, fmt.Errorf("%w: last seen: %w", ErrUnread, err)
	}
	return in.LastSeen, nil
}
