package access

import (
	"maps"
	"slices"
)

// Next is what to tell the servers now, all of it side by side, so that everybody's access
// becomes what Secrets say while all go on working. Neither a step nor a doubt is that
// there is nothing left to do; a doubt says in words what is waited for.
//
// The order is what keeps everybody in: nobody uses a password before every server knows
// it, and none is dropped that somebody may still use. It is decided from what servers say
// alone, so it goes on after any crash, and takes back in a server that started again with
// older files.
func Next(w World) (steps []Step, doubt string) {
	switch {
	case len(w.Secrets.Operator) == 0 || len(w.Secrets.Replication) == 0:
		return nil, "no passwords were seen"
	case len(w.Nodes) == 0:
		return nil, "no server was seen"
	}
	if steps = admit(w); len(steps) > 0 {
		return steps, ""
	}
	for _, n := range w.Nodes {
		if n.Server == nil {
			return nil, n.Name + " does not say who may log on to it"
		}
	}
	if steps = logOnWithNewest(w); len(steps) > 0 {
		return steps, ""
	}
	return lastSteps(w, dismiss(w))
}

// lastSteps takes away what is left over, once that harms nobody.
func lastSteps(w World, leftover []Step) (steps []Step, doubt string) {
	if free := slices.DeleteFunc(slices.Clone(leftover), needsProof); len(free) > 0 || len(leftover) == 0 {
		return free, ""
	}
	if n, late := w.late(); late && slices.ContainsFunc(leftover, dropsOwn) {
		return nil, "the new passwords to reach the files of " + n.Name
	}
	if slices.ContainsFunc(leftover, touchesLinks) {
		if steps, doubt, proven := prove(w, w.Secrets.Replication[0].Hash(), "password"); !proven {
			return steps, doubt
		}
	}
	return leftover, ""
}

// late is a server in whose pod the files are older than the newest passwords. The program
// beside it would be locked out, and so would the server when it starts again.
func (w World) late() (Node, bool) {
	for _, n := range w.Nodes {
		if n.Server.Files != w.Secrets.Newest() {
			return n, true
		}
	}
	return Node{}, false
}

// admit lets every user log on with what it should, at every server that can be told. A
// server that is silent does not keep the others from it: nobody is put at risk.
func admit(w World) (steps []Step) {
	for _, n := range w.Nodes {
		if n.Server == nil {
			continue
		}
		for _, u := range w.wanted(n.Version) {
			is, there := n.Server.Accounts[u.Name]
			missing := without(u.Passwords, is.Passwords)
			switch {
			case !there, !is.On, is.Open, slices.Contains(n.Askew, u.Name):
				steps = append(steps, Grant{Node: n.Name, User: u})
			case len(missing) > 0:
				steps = append(steps, AddPasswords{Node: n.Name, User: u.Name, Passwords: missing})
			}
		}
	}
	return steps
}

// logOnWithNewest lets servers use the newest password, which every one knows by now.
func logOnWithNewest(w World) (steps []Step) {
	newest := w.Secrets.Replication[0]
	for _, n := range w.Nodes {
		if n.Server.PrimaryUser != Replication || n.Server.PrimaryHash != newest.Hash() {
			steps = append(steps, SetPrimaryLogin{Node: n.Name, User: Replication, Password: newest})
		}
	}
	return steps
}

// prove breaks one link of a replica to its primary and waits until it is back. Whether a
// password or a certificate is good shows only when somebody connects: if it is not, one replica is behind,
// and not all of them at some later time.
func prove(w World, with Hash, what string) (steps []Step, doubt string, proven bool) {
	if r := w.Reconnected; r != nil && r.With == with {
		if n, there := w.node(r.Node); there && n.Server.Replica {
			return comeBack(n, *r, what)
		}
	}
	proven = true // where there is no replica, there is nothing to lose
	for _, n := range w.Nodes {
		if n.linked() {
			return []Step{Reconnect{Node: n.Name, Connection: n.Server.Connection, With: with}}, "", false
		}
		proven = proven && !n.Server.Replica
	}
	if !proven {
		doubt = "no replica has a link to its primary on which to try the new " + what
	}
	return nil, doubt, proven
}

// comeBack judges the replica whose link was to be broken.
func comeBack(n Node, r Reconnection, what string) (steps []Step, doubt string, proven bool) {
	switch {
	case n.Server.Connection == r.Connection:
		return []Step{Reconnect(r)}, "", false
	case n.linked():
		return nil, "", true
	}
	return nil, n.Name + " has not come back to its primary since its link was broken to try the new " + what, false
}

// dismiss takes away what nobody should use any more.
func dismiss(w World) (steps []Step) {
	for _, n := range w.Nodes {
		unknown := map[string]bool{}
		for name, is := range n.Server.Accounts {
			// Where no application is known, an unknown user may be one: its connections would be closed.
			unknown[name] = name != Default && w.Secrets.ApplicationName != ""
			if name == Default && is.On {
				steps = append(steps, Grant{Node: n.Name, User: User{Name: Default, Off: true}})
			}
		}
		for _, u := range w.wanted(n.Version) {
			unknown[u.Name] = false
			if old := without(n.Server.Accounts[u.Name].Passwords, u.Passwords); len(old) > 0 {
				steps = append(steps, DropPasswords{Node: n.Name, User: u.Name, Passwords: old})
			}
		}
		maps.DeleteFunc(unknown, func(_ string, is bool) bool { return !is })
		if len(unknown) > 0 {
			steps = append(steps, RemoveUsers{Node: n.Name, Users: slices.Sorted(maps.Keys(unknown))})
		}
	}
	return steps
}

// touchesLinks says that servers could not connect to each other any more if it were wrong.
func touchesLinks(s Step) bool {
	switch s := s.(type) {
	case DropPasswords:
		return s.User == Replication
	case Grant:
		return s.User.Off
	case AddPasswords, SetPrimaryLogin, Reconnect, RemoveUsers, LoadCertificates:
	}
	return false
}

// dropsOwn says that one of the operator's own users would lose a password.
func dropsOwn(s Step) bool {
	drop, is := s.(DropPasswords)
	return is && (drop.User == Operator || drop.User == Replication)
}

func needsProof(s Step) bool { return touchesLinks(s) || dropsOwn(s) }

// without is what is in a list and not in another.
func without(list, other []Hash) (rest []Hash) {
	for _, h := range list {
		if !slices.Contains(other, h) {
			rest = append(rest, h)
		}
	}
	return rest
}
