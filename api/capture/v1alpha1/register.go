package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupName is the API group of area capture.
const GroupName = "capture.statecraft.dev"

// GroupVersion is the version that this package holds.
var GroupVersion = schema.GroupVersion{Group: GroupName, Version: "v1alpha1"}

// AddToScheme registers the kinds of area capture.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion,
		&ObjectKeeper{}, &ObjectKeeperList{},
		&VolumeCaptureRequest{}, &VolumeCaptureRequestList{},
		&VolumeRestoreRequest{}, &VolumeRestoreRequestList{},
		&ManifestCaptureRequest{}, &ManifestCaptureRequestList{},
		&ManifestCheckpoint{}, &ManifestCheckpointList{},
		&ManifestCheckpointContentChunk{}, &ManifestCheckpointContentChunkList{},
		&ManifestRestoreRequest{}, &ManifestRestoreRequestList{},
	)
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}
