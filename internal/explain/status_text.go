package explain

import (
	"cmp"
	"fmt"
	"strings"
)

// Text is the report in lines of at most 80 characters.
func (r Report) Text() string {
	p := &page{}
	p.indented(0, r.Summary)
	p.line("")
	ready := r.Ready
	if ready == "" {
		ready = "not said before the end"
	}
	p.labelled("Ready", ready)
	if r.Since != nil {
		p.labelled("Phase", fmt.Sprintf("%s since %s (%s)", r.Phase, Moment(*r.Since), r.For))
	}
	p.labelled("Reason", r.Reason)
	p.labelled("Waiting", r.WaitingFor)
	p.labelled("Manager", r.Manager)
	for _, f := range r.Figures {
		p.labelled(f.Name, f.Value)
	}
	p.labelled("Parts", r.Lanes...)
	p.sections(r.Sections)
	r.conditions(p)
	r.history(p)
	r.children(p)
	if len(r.Notes) > 0 {
		p.line("")
		p.labelled("Note", r.Notes...)
	}
	return p.String()
}

func (r Report) conditions(p *page) {
	if len(r.Conditions) == 0 {
		return
	}
	p.line("\nConditions")
	for _, c := range r.Conditions {
		p.indented(2, fmt.Sprintf("%s=%s %s since %s", c.Type, c.Status, c.Reason, Moment(c.LastTransitionTime)))
		p.indented(4, c.Message)
	}
}

func (r Report) history(p *page) {
	if len(r.History) == 0 {
		return
	}
	p.line("\nHistory")
	var rows [][]string
	for _, m := range r.History {
		rows = append(rows, []string{Moment(m.At), string(m.Phase), m.For, string(m.Reason)})
	}
	p.table([]string{"AT", "PHASE", "FOR", "REASON"}, rows)
}

func (r Report) children(p *page) {
	if len(r.Children) == 0 {
		return
	}
	p.line("\nChildren")
	var rows [][]string
	for _, c := range r.Children {
		rows = append(rows, []string{c.Kind + "/" + c.Name, c.Ready, c.Why})
	}
	p.table([]string{"OBJECT", "READY", "WHY"}, rows)
}

// Text is the overview in lines of at most 80 characters; namespaced says that objects of several
// namespaces are shown.
func (o Overview) Text(namespaced bool) string {
	p := &page{}
	for _, g := range o.Kinds {
		if len(g.Rows) == 0 {
			continue
		}
		p.line(g.Kind)
		head := []string{"NAME", "READY", "PHASE", "FOR", "WAITING FOR"}
		if namespaced {
			head = append([]string{"NAMESPACE"}, head...)
		}
		var rows [][]string
		for _, r := range g.Rows {
			row := []string{r.Name, cmp.Or(r.Ready, "-"), cmp.Or(string(r.Phase), "-"), r.For, strings.Join(strings.Fields(r.WaitingFor), " ")}
			if namespaced {
				row = append([]string{r.Namespace}, row...)
			}
			rows = append(rows, row)
		}
		p.table(head, rows)
		p.line("")
	}
	p.indented(0, o.sum())
	for _, n := range o.Notes {
		p.indented(0, n)
	}
	return p.String()
}

// sum says how many objects are as wished, of those that could be listed.
func (o Overview) sum() string {
	_, wished, of := o.AsWished()
	switch hidden := strings.Join(o.Hidden, ", "); {
	case of == 0 && hidden != "":
		return "Nothing can be said about " + hidden + "; there are no other objects of Statecraft."
	case of == 0:
		return "There are no objects of Statecraft."
	case hidden != "":
		return fmt.Sprintf("%d of %d objects that could be listed are as wished; nothing can be said about %s.", wished, of, hidden)
	default:
		return fmt.Sprintf("%d of %d objects are as wished.", wished, of)
	}
}
