package restorer

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
)

// Sketch is what an intent is drawn from.
type Sketch struct {
	Request  *capturev1.VolumeRestoreRequest
	Claim    *corev1.PersistentVolumeClaim
	Class    *storagev1.StorageClass
	Topology []map[string]string // of the node that was selected, or what the class allows
	// Metadata says that the driver is told the names of claim and volume.
	Metadata bool
	// FSType is for classes that name none.
	FSType string
}

// Draft draws the intent. The rules of a StorageClass are those of external-provisioner,
// which made the volume that was captured.
func Draft(s Sketch) (*Intent, error) {
	name := VolumeName(s.Request.UID)
	set, err := sort(s.Class.Parameters, s.Claim, name)
	if err != nil {
		return nil, fmt.Errorf("read StorageClass %s: %w", s.Class.Name, err)
	}
	if s.Metadata {
		set.driver[prefix+"pvc/name"], set.driver[prefix+"pvc/namespace"] = s.Claim.Name, s.Claim.Namespace
		set.driver[prefix+"pv/name"] = name
	}
	source := s.Request.Status.Source
	asked := s.Claim.Spec.Resources.Requests[corev1.ResourceStorage]
	bytes := asked.Value()
	if source.RestoreSize != nil {
		bytes = max(bytes, source.RestoreSize.Value())
	}
	i := &Intent{
		Request: Ref{s.Request.Namespace, s.Request.Name, s.Request.UID},
		Claim:   Ref{s.Claim.Namespace, s.Claim.Name, s.Claim.UID},
		Plan: Plan{
			Driver: source.Driver, Name: name, Snapshot: source.SnapshotHandle, Bytes: bytes, Parameters: set.driver,
			AccessModes: s.Claim.Spec.AccessModes, Topology: s.Topology, Secret: set.secrets[provisioner],
		},
		Shape: Shape{
			ClassName: s.Class.Name, ReclaimPolicy: reclaim(s),
			ControllerPublish: set.secrets[controllerPublish], ControllerExpand: set.secrets[controllerExpand],
			NodeStage: set.secrets[nodeStage], NodePublish: set.secrets[nodePublish], NodeExpand: set.secrets[nodeExpand],
		},
	}
	if mode := s.Claim.Spec.VolumeMode; mode != nil && *mode == corev1.PersistentVolumeBlock {
		i.Plan.Block = true
	} else if i.Plan.FSType, i.Plan.MountFlags = set.fsType, s.Class.MountOptions; set.fsType == "" {
		i.Plan.FSType = s.FSType
	}
	return i, nil
}

// reclaim is what becomes of the volume when its claim goes. A rehearsal leaves nothing.
func reclaim(s Sketch) corev1.PersistentVolumeReclaimPolicy {
	if s.Request.Spec.Rehearsal != nil || s.Class.ReclaimPolicy == nil {
		return corev1.PersistentVolumeReclaimDelete
	}
	return *s.Class.ReclaimPolicy
}
