//go:build full

package capture

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/valkey-io/valkey-go"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/bed/images"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/product"
)

const (
	keys           = 3000
	upgradedWithin = 5 * time.Minute
	runsWithin     = 3 * time.Minute
)

// TestVolumesOfAnUpgradeAreCapturedFirst upgrades a cluster that captures first, and looks into the captures.
func TestVolumesOfAnUpgradeAreCapturedFirst(t *testing.T) {
	s := newValkeyStage(t)
	vkc := s.cluster("orders", atOnce)
	s.put(vkc, "before")
	u := s.upgrade(vkc)
	if c := s.endedWithin(u, upgradedWithin); c.Status != metav1.ConditionTrue {
		t.Fatalf("%s, %s", c.Reason, c.Message)
	}
	s.put(vkc, "after")
	if len(u.Status.Captures) != 3 {
		t.Fatalf("captures %v", u.Status.Captures)
	}
	found := 0
	for i, name := range u.Status.Captures {
		taken := &capturev1.VolumeCaptureRequest{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: name}}
		s.succeeds(taken)
		back := restore("back-"+strconv.Itoa(i), name, "restored-"+strconv.Itoa(i), atOnce, corev1.PersistentVolumeFilesystem)
		s.Create(back)
		s.succeeds(back)
		found += s.found(vkc, back.Spec.VolumeClaimTemplate.Name)
	}
	if found != keys {
		t.Errorf("the captures hold %d keys as they were before, of %d", found, keys)
	}
	harness.Row(t, "%d of %d keys as they were before the upgrade, in %d captures", found, keys, len(u.Status.Captures))
}

// TestVolumesThatCannotBeCapturedStopAnUpgrade: no pod is replaced.
func TestVolumesThatCannotBeCapturedStopAnUpgrade(t *testing.T) {
	s := newValkeyStage(t)
	vkc := s.cluster("orders", bed.StorageClass) // of no CSI driver
	before := s.pods(vkc)
	u := s.upgrade(vkc)
	c := s.endedWithin(u, upgradedWithin)
	if c.Reason != "CaptureFailed" || !strings.Contains(c.Message, "VolumeCaptureRequest") {
		t.Errorf("%s, %s", c.Reason, c.Message)
	}
	if after := s.pods(vkc); after != before {
		t.Errorf("pods were replaced: %s, before %s", after, before)
	}
	harness.Row(t, "%s: %s", c.Reason, c.Message)
}

func newValkeyStage(t *testing.T) *stage {
	t.Helper()
	s := newStage(t)
	if err := valkeyv1.AddToScheme(s.Client.Scheme()); err != nil {
		t.Fatal(err)
	}
	if err := s.Bed.LoadImages(t.Context(), images.Valkey81, images.Valkey91, images.ValkeyNode); err != nil {
		t.Fatal(err)
	}
	product.NewManager(t, s.Bed, "valkey").Start()
	return s
}

// cluster is one of three shards of a primary and a replica, with volumes, that runs.
func (s *stage) cluster(name, class string) *valkeyv1.ValkeyCluster {
	s.T.Helper()
	vkc := &valkeyv1.ValkeyCluster{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: valkeyv1.ValkeyClusterSpec{
		Image:       images.Valkey81,
		Persistence: valkeyv1.Persistence{Enabled: true, Size: &size, StorageClassName: &class, WhenDeleted: valkeyv1.DeleteVolumes},
	}}
	s.Create(vkc)
	harness.Eventually(s.T, runsWithin, poll, func() error {
		if c := s.endedWithin(vkc, runsWithin); c.Status != metav1.ConditionTrue {
			return fmt.Errorf("%s, waits for %s", vkc.Status.Phase, vkc.Status.WaitingFor)
		}
		return nil
	})
	s.T.Cleanup(func() { s.Delete(vkc) })
	return vkc
}

// put sets all keys to a value.
func (s *stage) put(vkc *valkeyv1.ValkeyCluster, value string) {
	s.T.Helper()
	c := s.dial(s.address(vkc.Name+"-0-0"), false)
	for i := range keys {
		if err := c.Do(s.T.Context(), c.B().Set().Key(fmt.Sprintf("key:%d", i)).Value(value).Build()).Error(); err != nil {
			s.T.Fatal(err)
		}
	}
}

// found counts the keys of a restored volume that have the value of before, as a server reads them that stands alone.
func (s *stage) found(vkc *valkeyv1.ValkeyCluster, claim string) (n int) {
	s.T.Helper()
	pod := shell(claim+"-server", &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: claim}})
	pod.Spec.Containers[0].Image = images.Valkey81
	pod.Spec.Containers[0].Command = []string{"valkey-server", "--dir", mounted, "--appendonly", "yes", "--save", "", "--protected-mode", "no"}
	pod.Spec.SecurityContext = s.podOf(vkc).Spec.SecurityContext // of who owns the files
	s.Create(pod)
	s.T.Cleanup(func() {
		if s.T.Failed() {
			out, _ := s.Bed.Kubectl(context.WithoutCancel(s.T.Context()), "logs", "-n", s.Namespace, pod.Name, "--tail=40")
			s.T.Logf("log of %s:\n%s", pod.Name, out)
		}
	})
	s.Kubectl("wait", "pod/"+pod.Name, "--for=condition=Ready", "--timeout=60s")
	c := s.dial(s.address(pod.Name), true)
	for i := range keys {
		value, err := c.Do(s.T.Context(), c.B().Get().Key(fmt.Sprintf("key:%d", i)).Build()).ToString()
		if err != nil && !valkey.IsValkeyNil(err) {
			s.T.Fatal(err)
		}
		if value == "before" {
			n++
		}
	}
	s.Delete(pod)
	return n
}

// podOf is a pod of a cluster.
func (s *stage) podOf(vkc *valkeyv1.ValkeyCluster) *corev1.Pod {
	s.T.Helper()
	pod := &corev1.Pod{}
	if err := s.Client.Get(s.T.Context(), client.ObjectKey{Namespace: s.Namespace, Name: vkc.Name + "-0-0"}, pod); err != nil {
		s.T.Fatal(err)
	}
	return pod
}

// dial connects to a server, which may stand alone.
func (s *stage) dial(address string, alone bool) valkey.Client {
	s.T.Helper()
	var c valkey.Client
	harness.Eventually(s.T, within, poll, func() (err error) {
		c, err = valkey.NewClient(valkey.ClientOption{InitAddress: []string{address}, ForceSingleClient: alone, DisableCache: true})
		return err
	})
	s.T.Cleanup(c.Close)
	return c
}

// address is where the server in a pod is reached.
func (s *stage) address(pod string) string {
	s.T.Helper()
	return s.Kubectl("get", "pod", pod, "-o", "jsonpath={.status.podIP}") + ":6379"
}

// upgrade is one to 9.1 that captures first.
func (s *stage) upgrade(vkc *valkeyv1.ValkeyCluster) *valkeyv1.ValkeyUpgrade {
	s.T.Helper()
	u := &valkeyv1.ValkeyUpgrade{ObjectMeta: metav1.ObjectMeta{Name: "to-9-1"}, Spec: valkeyv1.ValkeyUpgradeSpec{
		ClusterRef: valkeyv1.ClusterRef{Name: vkc.Name}, Image: images.Valkey91, CaptureFirst: true,
	}}
	s.Create(u)
	return u
}

// pods are the UIDs of a cluster's pods.
func (s *stage) pods(vkc *valkeyv1.ValkeyCluster) string {
	s.T.Helper()
	var list corev1.PodList
	if err := s.Client.List(s.T.Context(), &list, client.InNamespace(s.Namespace), client.MatchingLabels{valkeyv1.ClusterLabel: vkc.Name}); err != nil {
		s.T.Fatal(err)
	}
	var uids []string
	for _, p := range list.Items {
		uids = append(uids, p.Name+" "+string(p.UID))
	}
	return strings.Join(uids, ", ")
}
