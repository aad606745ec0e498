package fleet

import "encoding/json"

// Device is a device of Flight Control, as far as it is looked at.
type Device struct {
	Name            string            `json:"name,omitempty"`
	ResourceVersion string            `json:"resourceVersion,omitempty"`
	Labels          map[string]string `json:"labels,omitempty"`
	// Owner is a fleet, as in Fleet/pumps, whose template replaces the whole spec; or empty.
	Owner string `json:"owner,omitempty"`
	// RenderedVersion is the version that the server last rendered for the agent: later than an edit, and by another process.
	RenderedVersion string `json:"renderedVersion,omitempty"`
	// AwaitingReconnect says that the server was restored from a backup, and the device was not heard since.
	AwaitingReconnect bool `json:"awaitingReconnect,omitempty"`
	// ConflictPaused says that after that the device had a newer spec than the server: a person must decide.
	ConflictPaused  bool `json:"conflictPaused,omitempty"`
	Decommissioning bool `json:"decommissioning,omitempty"`
	// Applications and Config are entries of the spec, or of what was rendered of it.
	Applications []Entry `json:"applications,omitempty"`
	Config       []Entry `json:"config,omitempty"`
	Status       Status  `json:"status,omitzero"`
}

// Entry is an application or a config entry of a spec.
type Entry struct {
	Name string          `json:"name"`
	Raw  json.RawMessage `json:"raw,omitempty"`
}

// Status is what the agent has reported, and what the server makes of it.
type Status struct {
	// ReportedVersion is the rendered version that the agent last applied completely.
	ReportedVersion string `json:"reportedVersion,omitempty"`
	Summary         Word   `json:"summary,omitzero"`
	Updated         Word   `json:"updated,omitzero"`
	Lifecycle       string `json:"lifecycle,omitempty"`
	// Updating is what the agent says of the version that it applies, or failed to apply.
	Updating Condition `json:"updating,omitzero"`
	// SpecValid is False if the server cannot render the spec.
	SpecValid    Condition     `json:"specValid,omitzero"`
	Applications []Application `json:"applications,omitempty"`
	System       System        `json:"system,omitzero"`
}

// Word is a word of the server, with its explanation.
type Word struct {
	Status string `json:"status,omitempty"`
	Info   string `json:"info,omitempty"`
}

// The words of a device's summary.
const (
	Online            = "Online"
	Degraded          = "Degraded"
	Error             = "Error"
	Rebooting         = "Rebooting"
	PoweredOff        = "PoweredOff"
	Unknown           = "Unknown" // not heard for five minutes or more; also of its update
	AwaitingReconnect = "AwaitingReconnect"
	ConflictPaused    = "ConflictPaused"
)

// The words of a device's lifecycle that end it.
const (
	Decommissioning = "Decommissioning"
	Decommissioned  = "Decommissioned"
)

// Condition is one condition of a device; the zero value is none.
type Condition struct {
	Status  string `json:"status,omitempty"` // True, False or Unknown
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
}

// Application is what the agent reports of one application. Ready counts the containers that exist: one that is missing
// is not among Of.
type Application struct {
	Name     string `json:"name"`
	Status   string `json:"status,omitempty"`
	Ready    int    `json:"ready,omitempty"`
	Of       int    `json:"of,omitempty"`
	Restarts int    `json:"restarts,omitempty"`
}

// The words of an application. A container that exited may stay Running.
const (
	AppPreparing = "Preparing"
	AppStarting  = "Starting"
	AppRunning   = "Running"
	AppCompleted = "Completed"
	AppError     = "Error"
	AppUnknown   = "Unknown"
)

// System is what the agent reports of its machine: processor and memory only if it is told to. 0 is not known.
type System struct {
	OperatingSystem string `json:"operatingSystem,omitempty"`
	Architecture    string `json:"architecture,omitempty"`
	Cores           int64  `json:"cores,omitempty"`
	MemoryKiB       int64  `json:"memoryKiB,omitempty"`
}

// Ghost says that the device is one that an edit has made: no agent has ever reported for it.
func (d Device) Ghost() bool {
	return d.Status.System == System{} && d.Status.ReportedVersion == "" && len(d.Status.Applications) == 0
}

// Rendered is a device with what the server has rendered for its agent instead of its spec: one row of the server's database, so
// its version, its applications and what the agent reported of it are of one moment.
type Rendered Device

// Page is a part of the list of devices.
type Page struct {
	Devices []Device
	// Unread are devices that could not be decoded, by name. They exist.
	Unread []string
	// Continue leads to the next page; it is empty at the end.
	Continue string
}

// Has says whether a spec, or what was rendered of it, has an entry of that name.
func Has(entries []Entry, name string) bool {
	_, is := Find(entries, name)
	return is
}

// Find finds an entry by its name.
func Find(entries []Entry, name string) (e Entry, is bool) {
	for _, e := range entries {
		if e.Name == name {
			return e, true
		}
	}
	return Entry{}, false
}

// Reported finds what the agent reports of an application.
func (s Status) Reported(name string) (a Application, is bool) {
	for _, a := range s.Applications {
		if a.Name == name {
			return a, true
		}
	}
	return Application{}, false
}
