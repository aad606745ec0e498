package access

// NextCertificates is what to tell the servers now, or what their files are to hold next, so
// that they come to what is given and verify each other all the time. None of it is that
// there is nothing left to do; a doubt says in words what is waited for.
//
// A stage ends when every server is seen to have loaded it, from files that bear its name:
// so its files are in every pod, too, and a server that starts again starts with it. A link
// that is broken and comes back then shows that the stage is good.
func NextCertificates(w World) (steps []Step, stage *Material, doubt string) {
	switch {
	case w.Given == Material{}:
		return nil, nil, ""
	case w.Staged == Material{}:
		return nil, &w.Given, "" // nothing tells what servers have
	case len(w.Nodes) == 0:
		return nil, nil, "no server was seen"
	}
	if next, urgent := w.renewed(); urgent {
		return nil, &next, ""
	}
	name := w.Staged.Name()
	if steps, doubt = load(w.Nodes, name); len(steps) > 0 || doubt != "" {
		return steps, nil, doubt
	}
	last := w.Staged == w.Given
	if last && w.Proven {
		return nil, nil, ""
	}
	steps, doubt, proven := prove(w, Hash(name), "certificates")
	if !proven || last {
		return steps, nil, doubt
	}
	next := NextMaterial(w.Staged, w.Given)
	return nil, &next, ""
}

// Renewal is what can be done about certificates while some servers are silent, which are not
// among the nodes. A certificate of the same authorities harms no server that does not have it yet,
// and a silent server must not delay it until the old one has expired.
func Renewal(w World) (steps []Step, stage *Material) {
	same := believes(w.Staged.Authorities, w.Given.Authorities) && believes(w.Given.Authorities, w.Staged.Authorities)
	next, urgent := w.renewed()
	switch {
	case w.Given == Material{}:
		return nil, nil
	case w.Staged == Material{}, same && w.Staged != w.Given:
		return nil, &w.Given
	case urgent:
		return nil, &next
	}
	steps, _ = load(w.Nodes, w.Staged.Name())
	return steps, nil
}

// renewed is what is staged in the place of a certificate that has ended: nobody connects with
// that one any more, so nothing is risked by showing the new one at once. Old authorities are
// believed for one more stage: the operator knows servers by them which have not loaded it yet.
func (w World) renewed() (next Material, urgent bool) {
	next = w.Given
	next.Authorities = union(w.Staged.Authorities, w.Given.Authorities)
	if believes(w.Given.Authorities, w.Staged.Authorities) {
		next = w.Given
	}
	return next, w.Ended && w.Staged.Certificate != w.Given.Certificate
}

// load lets servers load a material that have another.
func load(nodes []Node, name string) (steps []Step, doubt string) {
	for _, n := range nodes {
		if n.Server == nil {
			doubt = n.Name + " does not say which certificates it has"
		} else if loaded, _ := LoadedBy(n.Server.Material); loaded != name {
			steps = append(steps, LoadCertificates{Node: n.Name, Dir: n.Dir, Material: name})
		}
	}
	return steps, doubt
}
