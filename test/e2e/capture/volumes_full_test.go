//go:build full

package capture

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// TestVolumesOfBlocksComeBack does the same with a raw device.
func TestVolumesOfBlocksComeBack(t *testing.T) {
	newStage(t).roundTrip(atOnce, corev1.PersistentVolumeBlock)
}

// TestVolumesThatWaitComeBack does the same where a volume is made only when a pod uses it.
func TestVolumesThatWaitComeBack(t *testing.T) {
	newStage(t).roundTrip(waits, corev1.PersistentVolumeFilesystem)
}
