package capture

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/test/bed/images"
	"github.com/statecraft-dev/statecraft/test/harness"
)

var size = resource.MustParse("8Mi")

// claim is one of a class of the bed.
func claim(name, class string, mode corev1.PersistentVolumeMode) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, StorageClassName: &class, VolumeMode: &mode,
			Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: size}},
		},
	}
}

// capture is a request for one claim.
func capture(name, claim string, mode capturev1.VolumeCaptureMode) *capturev1.VolumeCaptureRequest {
	return &capturev1.VolumeCaptureRequest{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       capturev1.VolumeCaptureRequestSpec{Target: capturev1.ClaimTarget{Name: claim}, Mode: mode, DeadlineSeconds: 120},
	}
}

// restore is a request that makes a claim from a capture.
func restore(name, from, claim, class string, mode corev1.PersistentVolumeMode) *capturev1.VolumeRestoreRequest {
	return &capturev1.VolumeRestoreRequest{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: capturev1.VolumeRestoreRequestSpec{
			Source: capturev1.VolumeSource{VolumeCaptureRequest: &capturev1.RequestRef{Name: from}},
			VolumeClaimTemplate: capturev1.VolumeClaimTemplate{Name: claim, Spec: capturev1.RestoredClaimSpec{
				AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, StorageClassName: &class, VolumeMode: &mode,
				Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: size}},
			}},
			DeadlineSeconds: 120,
		},
	}
}

const (
	mounted = "/data"
	device  = "/dev/volume"
)

// shell is a pod that has a claim, and waits for commands.
func shell(name string, of *corev1.PersistentVolumeClaim) *corev1.Pod {
	c := corev1.Container{Name: "shell", Image: images.Busybox, ImagePullPolicy: corev1.PullNever, Command: []string{"sleep", "3600"}}
	if ptr.Deref(of.Spec.VolumeMode, corev1.PersistentVolumeFilesystem) == corev1.PersistentVolumeBlock {
		c.VolumeDevices = []corev1.VolumeDevice{{Name: "volume", DevicePath: device}}
	} else {
		c.VolumeMounts = []corev1.VolumeMount{{Name: "volume", MountPath: mounted}}
	}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PodSpec{
			Containers: []corev1.Container{c}, TerminationGracePeriodSeconds: ptr.To(int64(0)),
			Volumes: []corev1.Volume{{Name: "volume", VolumeSource: corev1.VolumeSource{
				PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: of.Name}}}},
		},
	}
}

// open starts a pod with a claim, and waits until it takes commands.
func (s *stage) open(name string, of *corev1.PersistentVolumeClaim) *corev1.Pod {
	s.T.Helper()
	pod := shell(name, of)
	s.Create(pod)
	harness.Eventually(s.T, within, poll, func() error {
		if err := s.Client.Get(s.T.Context(), client.ObjectKeyFromObject(pod), pod); err != nil {
			return err
		}
		if pod.Status.Phase != corev1.PodRunning {
			return fmt.Errorf("pod %s is %s", name, pod.Status.Phase)
		}
		return nil
	})
	return pod
}

// Scripts of the pods.
const (
	// plant makes a tree: nested, empty, long, with a link, and with bytes of chance.
	plant = `cd ` + mounted + ` && mkdir -p a/b/c empty && echo hello >a/b/c/greeting && : >a/none && ln -s a/b link &&
dd if=/dev/urandom of=a/random bs=64k count=8 2>/dev/null && seq 1 20000 >a/b/numbers && chmod 640 a/b/numbers && sync`
	// digest tells one tree from another: names, links, modes and contents.
	digest = `cd ` + mounted + ` && { find . | sort; find . -type l -exec readlink {} \; | sort; find . -exec stat -c '%n %a %F' {} \; | sort;
find . -type f -exec sha256sum {} \; | sort; } | sha256sum`
	plantDevice  = `dd if=/dev/urandom of=` + device + ` bs=64k count=16 2>/dev/null && sync`
	digestDevice = `dd if=` + device + ` bs=64k count=16 2>/dev/null | sha256sum`
)
