package explain

import (
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/statecraft-dev/statecraft/docs/runbooks"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// Answer says why an object is where it is.
type Answer struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	AsWished  bool   `json:"asWished"` // and a manager keeps it so, unless nothing is known about managers
	Summary   string `json:"summary"`

	Phase   fsm.Phase    `json:"phase,omitempty"`
	Since   *metav1.Time `json:"since,omitempty"`
	Reason  string       `json:"reason,omitempty"`
	Message string       `json:"message,omitempty"`

	// Until says how long the wait may last.
	Until []string `json:"until,omitempty"`
	// Acts are those who must act, Advice is what they do, and ReadOn where more is written.
	Acts   []string `json:"acts,omitempty"`
	Advice string   `json:"advice,omitempty"`
	ReadOn string   `json:"readOn,omitempty"`
	// Manager says that no manager is there to act, or that it is not known; empty while one leads.
	Manager string `json:"manager,omitempty"`
	// Lanes say where parts of the object stand that move by themselves.
	Lanes  []string `json:"lanes,omitempty"`
	Next   []string `json:"next,omitempty"`
	Events []Event  `json:"events,omitempty"`
	// Notes say what is left out, and why.
	Notes []string `json:"notes,omitempty"`
}

// mostEvents are told; the newest.
const mostEvents = 3

// Why answers from facts.
func Why(f Facts) Answer {
	p := f.Progress
	dead, manager := f.manager()
	a := Answer{
		Kind: f.Table.Kind, Namespace: f.Namespace, Name: f.Name, AsWished: f.asWished() && !dead, Manager: manager, Phase: p.Phase,
		Until: f.until(), Lanes: f.lanes(), Next: f.next(), Events: newest(f.Events), Notes: f.notes(),
	}
	if !p.Since.IsZero() {
		a.Since = p.Since.DeepCopy()
	}
	a.Summary = f.summary()
	a.Reason, a.Message = whyOf(p)
	if !a.AsWished {
		f.advise(&a, dead)
	}
	return a
}

// advise says who must act, and how. Without a manager everything else is of no use.
func (f Facts) advise(a *Answer, dead bool) {
	if s, found := f.section(a.Reason); found {
		a.Acts, a.Advice, a.ReadOn = s.Acts, s.Advice(), s.Link()
	}
	const platform = "the platform team"
	if dead && !slices.Contains(a.Acts, platform) {
		a.Acts = append([]string{platform}, a.Acts...)
	}
	if len(a.Acts) == 0 {
		a.Acts = []string{platform}
	}
}

// section is that of the runbook. What a manager refuses to act upon has another reason than the
// status says, which was written before; and what was as wished lacks nothing but a manager.
func (f Facts) section(reason string) (runbooks.Section, bool) {
	switch {
	case f.refused():
		return runbooks.Find(runbooks.Everywhere, "Machine fault", "Machine fault")
	case f.asWished():
		return runbooks.Find(runbooks.Everywhere, "No leader", "No leader")
	}
	return runbooks.Find(f.Area, f.Table.Kind, reason, f.Kinds...)
}

func (f Facts) title() string {
	if f.Namespace == "" {
		return f.Table.Kind + " " + f.Name
	}
	return f.Table.Kind + " " + f.Namespace + "/" + f.Name
}

func (f Facts) summary() string {
	p := f.Progress
	if p.Phase == "" {
		return fmt.Sprintf("%s was not looked at yet; it was created %s ago.", f.title(), Age(f.Created.Time, f.Now))
	}
	is := "is not as wished"
	dead, _ := f.manager()
	switch {
	case f.Deleted != nil:
		is = "is being deleted"
	case !f.Table.known(p.Phase):
		is = "is in a phase that this program does not know"
	case f.asWished() && dead:
		is = "was as wished when a manager last saw it" + f.Leader.lastSeen()
	case f.asWished():
		is = "is as wished"
	case f.failed():
		is = "has failed"
	case f.Table.OneShot:
		is = "is under way"
	}
	return fmt.Sprintf("%s %s: phase %s for %s.", f.title(), is, p.Phase, Age(p.Since.Time, f.Now))
}

// notes say what the answer lacks.
func (f Facts) notes() []string {
	notes := slices.Clone(f.Unseen)
	p := f.Progress
	if p.MachineHash != "" && !f.sameVersion() {
		notes = append(notes, fmt.Sprintf("The manager that wrote the status is of another version than this program (machine %s, not %s). "+
			"What happens next is left out.", p.MachineHash, f.Table.Hash))
	}
	if p.Phase != "" && !f.Table.known(p.Phase) {
		notes = append(notes, fmt.Sprintf("This program does not know phase %s. A newer manager wrote it, or a person did.", p.Phase))
	}
	if p.ObservedGeneration > 0 && p.ObservedGeneration < f.Generation {
		notes = append(notes, fmt.Sprintf("The spec was edited since the manager last decided (generation %d, seen %d).", f.Generation, p.ObservedGeneration))
	}
	return notes
}

func newest(events []Event) []Event {
	events = slices.Clone(events)
	slices.SortStableFunc(events, func(a, b Event) int { return b.At.Compare(a.At.Time) })
	return events[:min(len(events), mostEvents)]
}

// recent is how new something must be to show that a manager runs.
const recent = time.Minute
