package pod

import (
	"slices"
	"time"
)

// settle ends all trouble, and lets everybody do their part until all is as it should be.
func (h *history) settle() {
	h.calm, h.server.Down = true, false
	for range 400 {
		for _, name := range h.devices() {
			d := h.server.Devices[name]
			d.Agent.Connected, d.Owner = true, ""
			clear(d.Agent.Unpullable)
			clear(d.Agent.Unstoppable)
			for d.Reading() > 0 {
				d.Render(0)
			}
			d.Apply()
			h.onlyOne()
			d.Report()
		}
		for _, p := range slices.Clone(h.pods) {
			if i := h.find(p.UID); i >= 0 {
				h.pass(i)
			}
		}
		h.now = h.now.Add(15 * time.Second)
		if h.done() {
			return
		}
	}
	for _, p := range h.pods {
		h.note("%s %s on %s: %s %s", p.UID, p.Progress.Phase, p.Spec.NodeName, p.Progress.Reason, p.Progress.WaitingFor)
	}
	h.fail("it does not come to rest")
}

// done says that every pod runs as it should, and that nothing else of ours does.
func (h *history) done() bool {
	for _, p := range h.pods {
		d := h.server.Devices[p.Spec.NodeName]
		if p.DeletionTimestamp != nil || p.Progress.Phase != Running || d.Agent.Running[cluster.Of(p.UID)] != p.Spec.Containers[0].Image {
			return false
		}
	}
	for _, name := range h.devices() {
		for app := range h.server.Devices[name].Agent.Running {
			if uid, ours := cluster.Pod(app); ours && h.find(uid) < 0 {
				return false
			}
		}
	}
	return len(h.pods) == ordinals
}
