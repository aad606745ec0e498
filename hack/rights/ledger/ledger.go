package ledger

import (
	"maps"
	"slices"
)

// Ledger is what accounts may do, and how often they did it.
type Ledger struct {
	grants  *Grants
	used    map[Right]int
	others  map[string]map[string]int // by account: what roles allowed that are not among the manifests
	refused map[string]map[string]int // by account: what no role allowed
}

// New is a ledger without any use.
func New(grants *Grants) *Ledger {
	return &Ledger{grants: grants, used: map[Right]int{}, others: map[string]map[string]int{}, refused: map[string]map[string]int{}}
}

// Enter takes in a use.
func (l *Ledger) Enter(use Use) {
	if use.Refused {
		count(l.refused, use.Account, use.Did)
		return
	}
	found := false
	for _, right := range l.grants.rights {
		if l.grants.mayHave(right, use) && right.allows(use.Did) {
			l.used[right]++
			found = true
		}
	}
	if !found {
		count(l.others, use.Account, use.Did)
	}
}

// mayHave says that a right of the account was in use, if it is enough. One of our roles must have allowed the request
// itself. What a role of somebody else allowed, ours would have allowed without it.
func (g *Grants) mayHave(right Right, use Use) bool {
	if g.accounts[right.Role] != use.Account {
		return false
	}
	if bound := g.members[use.Did.Role]; len(bound) > 0 && g.accounts[bound[0]] == use.Account {
		return slices.Contains(bound, right.Role)
	}
	return right.Role.Kind == "ClusterRole" || use.AtHome
}

func count(by map[string]map[string]int, account string, what Right) {
	what.Name = "" // one line for all objects
	if by[account] == nil {
		by[account] = map[string]int{}
	}
	text := what.String()
	if what.Role != (Role{}) {
		text += " by " + what.Role.String()
	}
	by[account][text]++
}

// Account is what one account has and uses.
type Account struct {
	Name    string
	Granted []Right
	Used    map[Right]int
	Unused  []Right
}

// Accounts are all that have rights, in the order of their names.
func (l *Ledger) Accounts() (all []Account) {
	by := map[string]*Account{}
	for _, right := range l.grants.rights {
		name := l.grants.accounts[right.Role]
		if by[name] == nil {
			by[name] = &Account{Name: name, Used: map[Right]int{}}
		}
		a := by[name]
		a.Granted = append(a.Granted, right)
		if n := l.used[right]; n > 0 {
			a.Used[right] = n
		} else {
			a.Unused = append(a.Unused, right)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(by)) {
		all = append(all, *by[name])
	}
	return all
}

// Others are what accounts did by roles that are not among the manifests.
func (l *Ledger) Others() map[string]map[string]int { return l.others }

// Refused is what accounts asked for and may not.
func (l *Ledger) Refused() map[string]map[string]int { return l.refused }
