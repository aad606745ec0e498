package csi

import (
	"context"
	"os"
	"strings"
	"testing"

	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	"google.golang.org/grpc/codes"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/bed/images"
)

const nobody = 65534

func newNodeRig(t *testing.T) rig {
	t.Helper()
	b := bedtest.Nodes(t, 1, bed.CSI)
	if err := b.LoadImages(t.Context(), images.Busybox); err != nil {
		t.Fatal(err)
	}
	return rigOn(t, b)
}

// pod is a user of a claim, not root, that runs one command. The volume is at /volume.
func (r rig) pod(name, claim, command string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: r.namespace, Name: name},
		Spec: corev1.PodSpec{
			RestartPolicy:                 corev1.RestartPolicyNever,
			TerminationGracePeriodSeconds: new(int64(0)),
			SecurityContext: &corev1.PodSecurityContext{
				RunAsUser: new(int64(nobody)), RunAsGroup: new(int64(nobody)), FSGroup: new(int64(nobody)),
			},
			Containers: []corev1.Container{{
				Name: "user", Image: images.Busybox, ImagePullPolicy: corev1.PullNever,
				Command:      []string{"sh", "-ec", command},
				VolumeMounts: []corev1.VolumeMount{{Name: "volume", MountPath: "/volume"}},
			}},
			Volumes: []corev1.Volume{{Name: "volume", VolumeSource: corev1.VolumeSource{
				PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim},
			}}},
		},
	}
}

// run runs a pod to its end. Its command checks what the test wants to know.
func (r rig) run(pod *corev1.Pod) {
	r.Helper()
	r.create(pod)
	r.phase(pod, corev1.PodSucceeded)
	r.delete(pod)
	r.gone(pod)
}

func (r rig) phase(pod *corev1.Pod, want corev1.PodPhase) {
	r.Helper()
	r.eventually("pod "+pod.Name+" to be "+string(want), func(ctx context.Context) (any, bool) {
		err := r.client.Get(ctx, client.ObjectKeyFromObject(pod), pod)
		return pod.Status, err == nil && pod.Status.Phase == want
	})
}

func TestWhatOnePodWritesAnotherReads(t *testing.T) {
	r := newNodeRig(t)
	claim := r.unboundClaim("data", func(c *corev1.PersistentVolumeClaim) { c.Spec.StorageClassName = new(bed.CSIWaitClass) })
	r.create(claim)
	r.csi.Proxy().Lose("NodePublishVolume", codes.DeadlineExceeded, 1)
	r.run(r.pod("writer", "data", "echo written > /volume/file"))
	r.run(r.pod("reader", "data", `test "$(cat /volume/file)" = written`))
	handle := r.bound(claim)
	if got := read(t, r.csi.VolumeDir(handle)); got != "written\n" {
		t.Errorf("the backend holds %q", got)
	}
}

func TestAPodReadsWhatWasRestored(t *testing.T) {
	r := newNodeRig(t)
	r.claim("data", nil)
	r.run(r.pod("writer", "data", "echo written > /volume/file"))
	snapshot := &snapshotv1.VolumeSnapshot{
		ObjectMeta: metav1.ObjectMeta{Namespace: r.namespace, Name: "data"},
		Spec: snapshotv1.VolumeSnapshotSpec{
			Source: snapshotv1.VolumeSnapshotSource{PersistentVolumeClaimName: new("data")},
		},
	}
	r.create(snapshot)
	r.usable(snapshot)
	r.claim("restored", func(c *corev1.PersistentVolumeClaim) {
		c.Spec.DataSource = &corev1.TypedLocalObjectReference{
			APIGroup: new(snapshotv1.GroupName), Kind: "VolumeSnapshot", Name: "data",
		}
	})
	r.run(r.pod("reader", "restored", `test "$(cat /volume/file)" = written`))
}

func TestAPodWritesToABlockVolume(t *testing.T) {
	r := newNodeRig(t)
	_, handle := r.claim("blocks", func(c *corev1.PersistentVolumeClaim) {
		c.Spec.VolumeMode = new(corev1.PersistentVolumeBlock)
	})
	pod := r.pod("writer", "blocks", "echo written | dd of=/dev/blocks conv=fsync")
	pod.Spec.SecurityContext = nil // the device is root's
	container := &pod.Spec.Containers[0]
	container.VolumeMounts = nil
	container.VolumeDevices = []corev1.VolumeDevice{{Name: "volume", DevicePath: "/dev/blocks"}}
	r.run(pod)
	content, err := os.ReadFile(r.csi.VolumeDir(handle))
	if err != nil || !strings.HasPrefix(string(content), "written\n") {
		t.Errorf("the backend holds %.20q…, %v", content, err)
	}
}

func TestVolumesOutliveACrashOfTheDriverAndAPowerCut(t *testing.T) {
	r := newNodeRig(t)
	r.claim("data", nil)
	user := r.pod("user", "data", "echo written > /volume/file; sleep 600")
	r.create(user)
	r.phase(user, corev1.PodRunning)
	node := bedtest.Nodes(t, 1).Node(1)
	if err := node.Crash(t.Context(), bed.CSIDaemon); err != nil {
		t.Fatal(err)
	}
	r.run(r.pod("after-crash", "data", `test "$(cat /volume/file)" = written`))
	if err := node.PowerOff(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := node.PowerOn(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.run(r.pod("after-power-cut", "data", `test "$(cat /volume/file)" = written`))
}
