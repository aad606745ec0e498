package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// Plan is what goes wrong in one run. The zero value is nothing.
type Plan struct {
	Spot
	Fault Fault
	// A second fault strikes so many calls after the first, or at the next call
	// after that where it can.
	After  int
	Second Fault
}

// String is how a plan is named for a replay: one word, without the subject.
func (p Plan) String() string {
	switch {
	case p.Fault == "":
		return "none"
	case p.Second == "":
		return fmt.Sprintf("%s:%s", p.Spot, p.Fault)
	}
	return fmt.Sprintf("%s:%s+%d:%s", p.Spot, p.Fault, p.After, p.Second)
}

// plansOf lists the faults at every spot of a run where they can change anything.
func plansOf(calls []*Call, faults []Fault) (plans []Plan) {
	for _, c := range spots(calls) {
		for _, f := range Faults {
			if f.in(faults) && f.at(c) {
				plans = append(plans, Plan{Spot: Spot{c.Boundary, c.nth}, Fault: f})
			}
		}
	}
	return plans
}

// find gives the plan of a name.
func find(plans []Plan, name string) (Plan, error) {
	first, second, pair := strings.Cut(name, "+")
	i := slices.IndexFunc(plans, func(p Plan) bool { return p.String() == first })
	if i < 0 {
		return Plan{}, fmt.Errorf("find plan %q: no such boundary or fault", first)
	}
	plan := plans[i]
	if !pair {
		return plan, nil
	}
	after, fault, _ := strings.Cut(second, ":")
	n, err := strconv.Atoi(after)
	if err != nil || !slices.Contains(Faults, Fault(fault)) {
		return Plan{}, fmt.Errorf("find plan %q: want +calls:fault after the first fault", second)
	}
	plan.After, plan.Second = n, Fault(fault)
	return plan, nil
}

// furthest is how many calls after the first fault the second strikes at most:
// within the pass that was struck or the few that repair it.
const furthest = 24

// pair adds a second fault to a plan.
func pair(p Plan, faults []Fault, chance *rand.Rand) Plan {
	if len(faults) == 0 {
		faults = Faults
	}
	p.After, p.Second = chance.IntN(furthest), faults[chance.IntN(len(faults))]
	return p
}
