package observe

import (
	"errors"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/valkey/cluster"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// settingsApplied says how far the work is that brings the servers that answer to settings. A
// server that starts again, or answers again, is another reason to look.
func (o Cluster) settingsApplied(w *cluster.World, key read.Key, live map[string]string, pods []corev1.Pod) {
	answering := slices.DeleteFunc(slices.Clone(pods), func(p corev1.Pod) bool {
		return !slices.ContainsFunc(w.Nodes, func(n topology.Node) bool { return n.Name == p.Name && n.Server != nil })
	})
	w.Settings.Print = cluster.SettingsPrint(live) + " " + startsOf(answering)
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
