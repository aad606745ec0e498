package cluster

import "slices"

// upgrade is what an upgrade of the cluster's own comes to: it takes the reservation when
// that is free, asks for the template of the spec in one shard after the other, and ends.
func upgrade(w *World) (changed bool) {
	i := slices.IndexFunc(w.Own, func(u OwnUpgrade) bool { return !u.Ended })
	if i < 0 {
		return false
	}
	switch {
	case w.Upgrade == nil && w.Reservation.State != Free:
		return false
	case w.Upgrade == nil:
		w.Upgrade, w.Reservation = &Upgrade{Name: w.Own[i].Name}, Reservation{State: Others, Holder: w.Own[i].Name}
		return true
	}
	for _, c := range w.Children {
		if c.Kind == KindStatefulSet && c.UID != "" && !c.Foreign && w.recorded(c) && c.Template != w.Template {
			ask := Ask{Shard: c.Shard, Template: w.Template}
			if slices.Contains(w.Upgrade.Asks, ask) {
				return false // the cluster has not answered yet
			}
			w.Upgrade = &Upgrade{Name: w.Upgrade.Name, Asks: []Ask{ask}}
			return true
		}
	}
	w.Own = slices.Clone(w.Own)
	w.Own[i].Ended, w.Own[i].Phase = true, "Completed"
	w.Upgrade, w.Reservation = nil, Reservation{State: Free}
	return true
}
