package spec

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
)

// Buffers for replicas grow with the memory limit, because what clients write while a copy is sent grows with what is copied.
// They have a floor, below which small servers could not send a copy at all, and all of them fit into the quarter of the
// limit that maxmemory leaves.

const mb = 1 << 20

// backlog is how many changes a primary remembers for replicas that lose their link: a sixteenth of the memory limit.
func backlog(c *valkeyv1.ValkeyCluster) string {
	limit, set := memoryLimit(c)
	if !set {
		return "64mb"
	}
	return fmt.Sprintf("%dmb", min(1024, max(4, limit/16/mb)))
}

// outputBuffer is how much may wait for a replica that is sent a copy, at once and for a minute: an eighth of the memory
// limit, and half of that.
func outputBuffer(c *valkeyv1.ValkeyCluster) string {
	limit, set := memoryLimit(c)
	most := int64(512)
	if set {
		most = max(64, limit/8/mb)
	}
	return fmt.Sprintf("replica %dmb %dmb 60", most, most/2)
}

// memoryLimit is how many bytes a server may have, if that is limited.
func memoryLimit(c *valkeyv1.ValkeyCluster) (bytes int64, set bool) {
	limit, set := c.Spec.Resources.Limits[corev1.ResourceMemory]
	return limit.Value(), set && !limit.IsZero()
}
