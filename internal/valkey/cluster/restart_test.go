package cluster

import (
	"testing"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
)

// A node that lost its power shows its containers as ended when it is back, and starts
// them again in the same pods: they keep their names, even without a volume.
func TestWhoStartsAgainIsNotForgotten(t *testing.T) {
	tryCautions(t, Degraded, map[string]caution{
		"a container has ended, and starts again by the same name": {func(_ *valkeyv1.ValkeyCluster, w *World) {
			gone(w)
			w.Nodes[1].Server, w.Nodes[1].Ended = nil, true
		}, "", ""},
	})
}
