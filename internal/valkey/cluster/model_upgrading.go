package cluster

import (
	"reflect"
	"slices"

	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/reserve"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// performBeside performs an effect on what a cluster has beside its children: passwords, and
// upgrades of its own.
func performBeside(w *World, effect fsm.Effect) {
	switch e := effect.(type) {
	case ApplyAccess:
		w.Access.Work = Ended
	case ApplySettings:
		w.Settings.Work = Ended
	case ChangePasswords:
		w.Access.Rotation, w.Access.Work = e.Rotation, ""
	case MakePasswords:
		w.Access.Missing = false
	case BeginRestart:
		if i := slices.IndexFunc(w.Places, func(p RestartPlace) bool { return p.Number == e.Place && p.State != reserve.Others }); i >= 0 {
			w.Places = slices.Clone(w.Places)
			w.Places[i].State = reserve.Ours
			performBeside(w, e.MakeUpgrade)
		}
	case MakeUpgrade:
		if !slices.ContainsFunc(w.Own, func(u OwnUpgrade) bool { return u.Name == e.Name }) {
			w.Own = append(slices.Clone(w.Own), OwnUpgrade{Name: e.Name, UID: "uid of " + e.Name, Phase: "Pending"})
		}
	case DeleteUpgrade:
		w.Own = slices.DeleteFunc(slices.Clone(w.Own), func(u OwnUpgrade) bool { return u.UID == e.UID })
	}
}

// performOnReservations takes and releases the cluster itself, or a place.
func performOnReservations(w *World, effect fsm.Effect) {
	if e, releases := effect.(reserve.Release); releases && IsPlace(e.Target) {
		w.Places = slices.Clone(w.Places)
		for i, p := range w.Places {
			if PlaceRef(p.Number) == e.Target {
				w.Places[i].Fact = p.After(e)
			}
		}
		return
	}
	w.Reservation = w.Reservation.After(effect)
}

// nextAsk is what an upgrade asks for next. A shard without replicas gets one together with
// the template, and when that one is a copy it is to go again.
func nextAsk(w *World) (Ask, bool) {
	for _, c := range w.Children {
		if c.Kind != KindStatefulSet || c.UID == "" || c.Foreign || !w.recorded(c) {
			continue
		}
		if ask, left := askOf(w, c); left {
			return ask, true
		}
	}
	return Ask{}, false
}

func askOf(w *World, c Child) (ask Ask, left bool) {
	ask = Ask{Shard: c.Shard, Template: w.Template}
	last, surged := lastAsk(w, c.Shard)
	if !surged && w.Shape[c.Shard] > 0 {
		return ask, c.Template != w.Template
	}
	replicas := 0
	if c.Template != w.Template || surged && *last.Replicas > 0 && !copied(w.Nodes.Shard(c.Shard)) {
		replicas = 1
	}
	ask.Replicas = &replicas
	return ask, replicas > 0 || w.Shape[c.Shard] > 0
}

// lastAsk is what was last asked for of a shard, if that was about a replica.
func lastAsk(w *World, shard int) (Ask, bool) {
	i := slices.IndexFunc(w.Upgrade.Asks, func(a Ask) bool { return a.Shard == shard && a.Replicas != nil })
	if i < 0 {
		return Ask{}, false
	}
	return w.Upgrade.Asks[i], true
}

// copied says that every node of a shard has all of it.
func copied(shard topology.Nodes) bool {
	owner, owned := shard.Owner()
	return owned && !slices.ContainsFunc(shard, func(n topology.Node) bool {
		return n.Server == nil || n.Name != owner.Name && (n.Server.Self().Follows != owner.Server.ID || !n.Server.Synced)
	})
}

// upgrade is what an upgrade of the cluster's own comes to: it takes the reservation when
// that is free, asks for the template of the spec in one shard after the other, and ends.
func upgrade(w *World) (changed bool) {
	i := slices.IndexFunc(w.Own, func(u OwnUpgrade) bool { return !u.Ended })
	if i < 0 {
		return false
	}
	switch {
	case w.Upgrade == nil && w.Reservation.State != reserve.Free:
		return false
	case w.Upgrade == nil:
		w.Upgrade, w.Reservation = &Upgrade{Name: w.Own[i].Name}, reserve.Fact{State: reserve.Others, Holder: w.Own[i].Name}
		return true
	}
	if ask, left := nextAsk(w); left {
		if slices.ContainsFunc(w.Upgrade.Asks, func(a Ask) bool { return reflect.DeepEqual(a, ask) }) {
			return false // the cluster has not answered yet
		}
		w.Upgrade = &Upgrade{Name: w.Upgrade.Name, Asks: []Ask{ask}}
		return true
	}
	w.Own = slices.Clone(w.Own)
	w.Own[i].Ended, w.Own[i].Phase = true, "Completed"
	w.Upgrade, w.Reservation = nil, reserve.Fact{State: reserve.Free}
	return true
}
