package capture

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
)

// Requests as users write them, without what the API server adds.

func named(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name}
}

func snapshot(namespace, claim string) *capturev1.VolumeCaptureRequest {
	return &capturev1.VolumeCaptureRequest{
		ObjectMeta: named(namespace, "capture-"+claim),
		Spec:       capturev1.VolumeCaptureRequestSpec{Target: capturev1.ClaimTarget{Name: claim}},
	}
}

func detach(namespace, claim string) *capturev1.VolumeCaptureRequest {
	r := snapshot(namespace, claim)
	r.Spec.Mode = capturev1.Detach
	return r
}

func manifests(namespace string, secrets bool) *capturev1.ManifestCaptureRequest {
	return &capturev1.ManifestCaptureRequest{
		ObjectMeta: named(namespace, "manifests"),
		Spec:       capturev1.ManifestCaptureRequestSpec{Selector: &capturev1.ManifestSelector{}, IncludeSecrets: secrets},
	}
}

// source is what a volume is restored from: one of three.
type source struct{ request, namespace, content, volume string }

func restore(namespace string, from source) *capturev1.VolumeRestoreRequest {
	r := &capturev1.VolumeRestoreRequest{
		ObjectMeta: named(namespace, "restore"),
		Spec: capturev1.VolumeRestoreRequestSpec{VolumeClaimTemplate: capturev1.VolumeClaimTemplate{
			Name: "restored",
			Spec: capturev1.RestoredClaimSpec{
				AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
				Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
			},
		}},
	}
	switch {
	case from.request != "":
		r.Spec.Source.VolumeCaptureRequest = &capturev1.RequestRef{Name: from.request, Namespace: from.namespace}
	case from.content != "":
		r.Spec.Source.VolumeSnapshotContent = &capturev1.NameRef{Name: from.content}
	default:
		r.Spec.Source.PersistentVolume = &capturev1.NameRef{Name: from.volume}
	}
	return r
}

func rehearsal(namespace string) *capturev1.VolumeRestoreRequest {
	r := restore(namespace, source{request: "a"})
	r.Spec.Rehearsal = &capturev1.Rehearsal{Probe: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{
		Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "look", Image: "busybox"}}},
	}}}}
	return r
}

func manifestRestore(namespace, request, from, checkpoint string) *capturev1.ManifestRestoreRequest {
	r := &capturev1.ManifestRestoreRequest{ObjectMeta: named(namespace, "manifests-again")}
	if checkpoint != "" {
		r.Spec.Source.Checkpoint = &capturev1.NameRef{Name: checkpoint}
	} else {
		r.Spec.Source.ManifestCaptureRequest = &capturev1.RequestRef{Name: request, Namespace: from}
	}
	return r
}

// rename lets a request name another object than before.
func rename(obj client.Object) {
	switch r := obj.(type) {
	case *capturev1.VolumeCaptureRequest:
		r.Spec.Target.Name += "-too"
	case *capturev1.VolumeRestoreRequest:
		for _, ref := range []*capturev1.NameRef{r.Spec.Source.VolumeSnapshotContent, r.Spec.Source.PersistentVolume} {
			if ref != nil {
				ref.Name += "-too"
			}
		}
		if ref := r.Spec.Source.VolumeCaptureRequest; ref != nil {
			ref.Name += "-too"
		}
	case *capturev1.ManifestRestoreRequest:
		if ref := r.Spec.Source.Checkpoint; ref != nil {
			ref.Name += "-too"
		}
		if ref := r.Spec.Source.ManifestCaptureRequest; ref != nil {
			ref.Name += "-too"
		}
	}
}

func withUID(cm *corev1.ConfigMap) *corev1.ConfigMap {
	cm.UID = "u1"
	return cm
}

func checkpoint(name string) *capturev1.ManifestCheckpoint {
	return &capturev1.ManifestCheckpoint{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       capturev1.ManifestCheckpointSpec{Origin: capturev1.Origin{Namespace: "shop", NamespaceUID: "n1"}, ResourceVersion: "1"},
	}
}

func chunk(name string) *capturev1.ManifestCheckpointContentChunk {
	return &capturev1.ManifestCheckpointContentChunk{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       capturev1.ManifestCheckpointContentChunkSpec{Checkpoint: "p", Data: []byte("{}")},
	}
}
