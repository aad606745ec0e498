package csi

import (
	spec "github.com/container-storage-interface/spec/lib/go/csi"
	corev1 "k8s.io/api/core/v1"

	"github.com/statecraft-dev/statecraft/internal/capture/restorer"
)

// request is a plan in the driver's words.
func (c *Client) request(p restorer.Plan, secrets map[string]string) *spec.CreateVolumeRequest {
	r := &spec.CreateVolumeRequest{
		Name: p.Name, Parameters: p.Parameters, Secrets: secrets,
		CapacityRange: &spec.CapacityRange{RequiredBytes: p.Bytes},
	}
	if p.Snapshot != "" {
		r.VolumeContentSource = &spec.VolumeContentSource{Type: &spec.VolumeContentSource_Snapshot{
			Snapshot: &spec.VolumeContentSource_SnapshotSource{SnapshotId: p.Snapshot},
		}}
	}
	for _, mode := range p.AccessModes {
		one := &spec.VolumeCapability{AccessMode: &spec.VolumeCapability_AccessMode{Mode: c.mode(mode)}}
		if p.Block {
			one.AccessType = &spec.VolumeCapability_Block{Block: &spec.VolumeCapability_BlockVolume{}}
		} else {
			one.AccessType = &spec.VolumeCapability_Mount{Mount: &spec.VolumeCapability_MountVolume{FsType: p.FSType, MountFlags: p.MountFlags}}
		}
		r.VolumeCapabilities = append(r.VolumeCapabilities, one)
	}
	if c.topology && len(p.Topology) > 0 {
		r.AccessibilityRequirements = &spec.TopologyRequirement{}
		for _, place := range p.Topology {
			t := &spec.Topology{Segments: place}
			r.AccessibilityRequirements.Requisite = append(r.AccessibilityRequirements.Requisite, t)
			r.AccessibilityRequirements.Preferred = append(r.AccessibilityRequirements.Preferred, t)
		}
	}
	return r
}

func (c *Client) mode(mode corev1.PersistentVolumeAccessMode) spec.VolumeCapability_AccessMode_Mode {
	switch mode {
	case corev1.ReadOnlyMany:
		return spec.VolumeCapability_AccessMode_MULTI_NODE_READER_ONLY
	case corev1.ReadWriteMany:
		return spec.VolumeCapability_AccessMode_MULTI_NODE_MULTI_WRITER
	case corev1.ReadWriteOncePod:
		if c.single {
			return spec.VolumeCapability_AccessMode_SINGLE_NODE_SINGLE_WRITER
		}
	case corev1.ReadWriteOnce:
		if c.single {
			return spec.VolumeCapability_AccessMode_SINGLE_NODE_MULTI_WRITER
		}
	}
	return spec.VolumeCapability_AccessMode_SINGLE_NODE_WRITER
}
