package explain

import (
	"cmp"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// Report is one object with its conditions, moves and children.
type Report struct {
	Row
	Kind       string             `json:"kind"`
	Summary    string             `json:"summary"`
	Manager    string             `json:"manager,omitempty"` // says that none is there to act, or that it is not known
	Figures    []Figure           `json:"figures,omitempty"`
	Lanes      []string           `json:"lanes,omitempty"`
	Sections   []Section          `json:"sections,omitempty"` // by the area
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	History    []Move             `json:"history,omitempty"`
	Children   []Child            `json:"children,omitempty"`
	Notes      []string           `json:"notes,omitempty"`
}

// Move is one entry of the history.
type Move struct {
	At     metav1.Time `json:"at"`
	Phase  fsm.Phase   `json:"phase"`
	For    string      `json:"for"` // how long the object stayed in it
	Reason fsm.Reason  `json:"reason"`
}

// Row is one object in one line.
type Row struct {
	Namespace  string       `json:"namespace,omitempty"`
	Name       string       `json:"name"`
	AsWished   bool         `json:"asWished"` // and a manager keeps it so, unless nothing is known about managers
	Ready      string       `json:"ready"`    // True, False or Unknown; empty before a request has ended
	Phase      fsm.Phase    `json:"phase,omitempty"`
	Since      *metav1.Time `json:"since,omitempty"`
	For        string       `json:"for,omitempty"` // how long it is in the phase
	Reason     string       `json:"reason,omitempty"`
	WaitingFor string       `json:"waitingFor,omitempty"`
}

// Line is an object in one line.
func Line(f Facts) Row {
	if f.Broken != "" {
		words := "This program cannot understand the object: " + f.Broken + "."
		return Row{Namespace: f.Namespace, Name: f.Name, Ready: string(metav1.ConditionUnknown), WaitingFor: words}
	}
	p := f.Progress
	dead, _ := f.manager()
	r := Row{
		Namespace: f.Namespace, Name: f.Name, AsWished: f.asWished() && !dead, Phase: p.Phase, Ready: string(readyOf(p).Status),
	}
	r.Reason, r.WaitingFor = whyOf(p)
	switch {
	case r.AsWished:
		r.WaitingFor = ""
	case f.asWished():
		r.WaitingFor = "Waiting for a manager of area " + f.Area + "."
	}
	if !p.Since.IsZero() {
		r.Since, r.For = p.Since.DeepCopy(), Age(p.Since.Time, f.Now)
	}
	return r
}

// Status reports on one object.
func Status(f Facts) Report {
	_, manager := f.manager()
	return Report{
		Row: Line(f), Kind: f.Table.Kind, Summary: f.summary(), Manager: manager, Figures: f.Figures, Lanes: f.lanes(), Sections: f.Sections, Conditions: f.Progress.Conditions,
		History: f.history(), Children: f.Children, Notes: f.notes(),
	}
}

func (f Facts) history() (moves []Move) {
	all := f.Progress.History
	for i, m := range all {
		left := f.Now
		if i+1 < len(all) {
			left = all[i+1].At.Time
		}
		moves = append(moves, Move{At: m.At, Phase: m.To, For: duration.HumanDuration(max(0, left.Sub(m.At.Time))), Reason: cmp.Or(m.Reason, fsm.Reason(m.Event))})
	}
	return moves
}

// Overview is all objects of Statecraft that were asked for.
type Overview struct {
	Kinds []Group `json:"kinds"`
	// Hidden are kinds whose objects could not be listed.
	Hidden []string `json:"hidden,omitempty"`
	Notes  []string `json:"notes,omitempty"`
}

// Group is the objects of one kind.
type Group struct {
	Kind string `json:"kind"`
	Rows []Row  `json:"objects"`
}

// Add adds the objects of one kind, and says once where no manager is there to act upon them.
func (o *Overview) Add(kind string, objects []Facts) {
	g := Group{Kind: kind}
	for _, f := range objects {
		g.Rows = append(g.Rows, Line(f))
		if _, words := f.election(); words != "" && !slices.Contains(o.Notes, words) {
			o.Notes = append(o.Notes, words)
		}
	}
	o.Kinds = append(o.Kinds, g)
}

// AsWished says that all are, and how many there are of how many.
func (o Overview) AsWished() (all bool, wished, of int) {
	for _, g := range o.Kinds {
		for _, r := range g.Rows {
			of++
			if r.AsWished {
				wished++
			}
		}
	}
	return wished == of, wished, of
}
