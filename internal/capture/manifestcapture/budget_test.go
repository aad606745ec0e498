package manifestcapture

import "testing"

func TestBudget(t *testing.T) {
	const mib = 1 << 20
	for what, c := range map[string]struct {
		budget Budget
		held   Held
		needs  int64
		want   string
	}{
		"no limits":                   {Budget{}, Held{All: 900 * mib, Namespace: 900 * mib}, mib, ""},
		"it fits exactly":             {Budget{All: 10 * mib, Namespace: 5 * mib}, Held{All: 9 * mib, Namespace: 4 * mib}, mib, ""},
		"nothing is left":             {Budget{All: 10 * mib}, Held{All: 10 * mib}, 0, "All checkpoints together hold 10.0 MiB of the 10.0 MiB that the operator allows. Delete captures that are not needed (statecraft-captures list shows their sizes), or raise --capture-checkpoint-budget; then make another request."},
		"a little is left":            {Budget{All: 10 * mib}, Held{All: 9 * mib}, 0, ""},
		"and it needs more":           {Budget{All: 10 * mib}, Held{All: 9 * mib}, 2 * mib, "All checkpoints together hold 9.0 MiB of the 10.0 MiB that the operator allows, and this one needs 2.0 MiB. Delete captures that are not needed (statecraft-captures list shows their sizes), or raise --capture-checkpoint-budget; then make another request."},
		"the namespace has its share": {Budget{All: 10 * mib, Namespace: 4 * mib}, Held{All: 5 * mib, Namespace: 4 * mib}, 0, "The checkpoints of namespace shop hold 4.0 MiB of the 4.0 MiB that the operator allows. Delete captures that are not needed (statecraft-captures list shows their sizes), or raise --capture-checkpoint-share; then make another request."},
	} {
		got := ""
		if r := c.budget.Refuse("shop", c.held, c.needs); r != nil {
			got = r.Message
		}
		if got != c.want {
			t.Errorf("%s: %q", what, got)
		}
	}
}
