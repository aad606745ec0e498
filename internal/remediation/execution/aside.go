package execution

import (
	"fmt"
	"slices"
	"time"

	"github.com/statecraft-dev/statecraft/internal/approval"
)

// mostAside is how many decisions that do not count are named: however many there are, they must not hide what is awaited.
const mostAside = 2

// setAside says which decisions about the execution do not count, and why, in sentences that follow another. Those of persons
// who may decide come first, and of each the newest.
func setAside(in input) (said string) {
	all := slices.Concat(ofOtherPlans(in), newestFirst(in.World.SetAside))
	for i, d := range all {
		if i == mostAside {
			return said + fmt.Sprintf(" Nor do %d others.", len(all)-mostAside)
		}
		said += fmt.Sprintf(" ExecutionApproval %s of user %s does not count: %s.", d.Name, shortened(d.By), d.Why)
	}
	return said
}

// ofOtherPlans are decisions of persons who may decide, but that are about another plan, about a plan of their own, or over.
func ofOtherPlans(in input) (all []SetAside) {
	p := in.Obj.Status.Plan
	if p == nil {
		return nil
	}
	plan := PlanOf(in.Obj, p.Content, p.Policy)
	for _, d := range in.World.Decisions {
		aside := SetAside{Name: d.Name, By: d.By, At: d.At}
		switch v := approval.Judge(plan, []approval.Decision{d.about()}, terms, in.Now); {
		case v.State == approval.Expired:
			aside.Why = "it ended at " + v.Until.UTC().Format(time.RFC3339)
		case v.State != approval.Waiting:
			continue
		case !plan.Names(d.Token):
			aside.Why = "it quotes another plan"
		default:
			aside.Why = "that user asked for the execution"
		}
		all = append(all, aside)
	}
	return newestFirst(all)
}

func newestFirst(all []SetAside) []SetAside {
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b SetAside) int { return b.At.Compare(a.At) })
	return all
}

// shortened is the name of a user, which may be as long as a status.
func shortened(user string) string {
	const most = 64
	if runes := []rune(user); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return user
}
