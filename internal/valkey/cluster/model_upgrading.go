package cluster

import (
	"slices"

	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// around is what an effect does to what a cluster has beside its children: passwords, and
// upgrades of its own.
func around(w *World, effect fsm.Effect) {
	switch e := effect.(type) {
	case ApplyAccess:
		w.Access.Work = Ended
	case MakePasswords:
		w.Access.Missing = false
	case MakeUpgrade:
		if !slices.ContainsFunc(w.Own, func(u OwnUpgrade) bool { return u.Name == e.Name }) {
			w.Own = append(slices.Clone(w.Own), OwnUpgrade{Name: e.Name, UID: "uid of " + e.Name, Phase: "Pending"})
		}
	case DeleteUpgrade:
		w.Own = slices.DeleteFunc(slices.Clone(w.Own), func(u OwnUpgrade) bool { return u.UID == e.UID })
	}
}

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
