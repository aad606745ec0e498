package volumerestore

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
	"github.com/statecraft-dev/statecraft/internal/job"
)

// RestoredVolume is the name under which a Job finds the restored volume.
const RestoredVolume = "restored"

// NewProbe is the Job of a rehearsal. It stays until the request goes, whatever its template
// says: what came of it must be seen again after the status was lost.
func NewProbe(r *capturev1.VolumeRestoreRequest, keeper types.UID) *batchv1.Job {
	made := job.New(job.Plan{
		Namespace: r.Namespace, Name: ProbeName(r.UID), Owner: request.KeptBy(r.UID, keeper), Template: r.Spec.Rehearsal.Probe,
	})
	pod := &made.Spec.Template.Spec
	restored := corev1.Volume{Name: RestoredVolume, VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: r.Spec.VolumeClaimTemplate.Name},
	}}
	for i := range pod.Volumes {
		if pod.Volumes[i].Name == RestoredVolume {
			pod.Volumes[i] = restored
			return made
		}
	}
	pod.Volumes = append(pod.Volumes, restored)
	return made
}
