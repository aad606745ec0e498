package observe

import (
	"errors"

	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/valkey/cluster"
)

// settingsApplied says how far the work is that brings servers to settings.
func (o Cluster) settingsApplied(w *cluster.World, key read.Key, live map[string]string, starts string) {
	w.Settings.Print = cluster.SettingsPrint(live) + " " + starts
	var refusal *cluster.Refusal
	switch work := o.Access.Work(cluster.SettingsWork(key)); {
	case work.State == read.WorkRunning:
		w.Settings.Work = cluster.Moving
	case work.State != read.WorkEnded || work.For != w.Settings.Print:
	case work.Err == nil:
		w.Settings.Work = cluster.Ended
	case errors.As(work.Err, &refusal):
		w.Settings.Refused = refusal.Bounded()
	}
}
