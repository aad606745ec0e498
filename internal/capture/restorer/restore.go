package restorer

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// Restore is one request as the restorer sees it. Its kind is the request's, so that events
// are about the request.
type Restore struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`
	Status            Status `json:"status,omitzero"`
}

// Status is how far a restore is. The intent keeps the progress, if there is one.
type Status struct {
	meta.Progress `json:",inline"`
	// Volume is what the driver has answered. It is only kept in memory: after a restart the
	// driver is asked again, because only it knows whether the volume is still there.
	Volume *Volume `json:"volume,omitempty"`
	// Trouble is what it answered instead, if that is worth telling.
	Trouble *Trouble `json:"trouble,omitempty"`
}

// Trouble is what stands in the way, as the claim is told.
type Trouble struct {
	Reason fsm.Reason `json:"reason"`
	Words  string     `json:"words,omitempty"`
}

// Volume is a volume of the driver.
type Volume struct {
	ID       string              `json:"id"`
	Capacity int64               `json:"capacity,omitempty"` // bytes; 0 is not known
	Context  map[string]string   `json:"context,omitempty"`
	Topology []map[string]string `json:"topology,omitempty"` // where it can be reached; empty is everywhere
}

// ClaimName is the annotation of a Restore that names the claim which told of it: the only
// one who knows, once the request is gone and before there is an intent.
const ClaimName = "claim"

// New is a request that was not looked at yet.
func New(namespace, name string, uid types.UID) *Restore {
	kind := metav1.TypeMeta{APIVersion: capturev1.GroupVersion.String(), Kind: "VolumeRestoreRequest"}
	return &Restore{TypeMeta: kind, ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: uid}}
}

// GetProgress is where the machine keeps its place.
func (r *Restore) GetProgress() *meta.Progress { return &r.Status.Progress }

// DeepCopy copies all that a pass may change. What the driver answered is only replaced.
func (r *Restore) DeepCopy() *Restore {
	next := &Restore{TypeMeta: r.TypeMeta, Status: r.Status}
	r.ObjectMeta.DeepCopyInto(&next.ObjectMeta)
	r.Status.Progress.DeepCopyInto(&next.Status.Progress)
	return next
}

// DeepCopyObject implements runtime.Object.
func (r *Restore) DeepCopyObject() runtime.Object { return r.DeepCopy() }

// VolumeName is the name by which the driver is asked for the volume of a request, and the
// name of its PersistentVolume and of its intent. It is the same in every try.
func VolumeName(uid types.UID) string { return "restore-" + string(uid) }
