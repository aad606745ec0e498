package sim

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

// Report is what a campaign found.
type Report struct {
	Subject     *Subject
	Options     Options
	Calls       int // of the run without faults
	Boundaries  int
	Faults      int // kinds of fault that apply somewhere
	Tried       int // plans
	Twice       int // plans whose second fault struck, too
	Total       int // boundaries × faults
	Ends        map[string]int
	Divergences []Divergence
	Took        time.Duration
}

// Divergence is a plan that came to another end, or did too much on the way.
type Divergence struct {
	Plan Plan
	Why  string
}

func (r *Report) count(calls []*Call, plans []Plan) {
	boundaries, faults := map[Boundary]bool{}, map[Fault]bool{}
	for _, c := range calls {
		boundaries[c.Boundary] = true
	}
	for _, p := range plans {
		faults[p.Fault] = true
	}
	r.Calls, r.Boundaries, r.Faults, r.Total = len(calls), len(boundaries), len(faults), len(plans)
}

// Print writes the report in plain lines.
func (r *Report) Print(out io.Writer) {
	name := r.Subject.Area + "/" + r.Subject.Name
	fmt.Fprintf(out, "sim %s: %d calls, %d boundaries, %d faults, seed %d\n", name, r.Calls, r.Boundaries, r.Faults, r.Options.Seed)
	fmt.Fprintf(out, "sim %s: %d plans in %s, %.1f plans/s", name, r.Tried, r.Took.Round(100*time.Millisecond), float64(r.Tried)/r.Took.Seconds())
	if !r.Options.Pairs && r.Options.Plan == "" {
		fmt.Fprintf(out, ", boundary × fault %d/%d (%.0f %%)", r.Tried, r.Total, 100*float64(r.Tried)/float64(max(1, r.Total)))
	}
	if r.Options.Pairs {
		fmt.Fprintf(out, ", %d struck twice", r.Twice)
	}
	fmt.Fprintln(out)
	for _, end := range slices.Sorted(maps.Keys(r.Ends)) {
		title := "as without faults"
		if end != "" {
			title = end
		}
		fmt.Fprintf(out, "sim %s: %d ended %s\n", name, r.Ends[end], title)
	}
	for _, d := range r.Divergences {
		fmt.Fprintf(out, "sim %s: DIVERGED at %s\n  %s\n  %s\n", name, d.Plan, strings.ReplaceAll(d.Why, "\n", "\n  "), r.Replay(d.Plan))
	}
}

// Replay is the command that tries a plan again.
func (r *Report) Replay(p Plan) string {
	depth := ""
	if p.Second != "" {
		depth = " DEPTH=2"
	}
	return fmt.Sprintf("make sim AREA=%s SEED=%d%s PLAN=%s:%s", r.Subject.Area, r.Options.Seed, depth, r.Subject.Name, p)
}
