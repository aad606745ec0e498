//go:build full

package valkey

import (
	"path/filepath"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/statecraft-dev/statecraft/internal/valkey/wire/wiretest"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

// TestCreateLikeTheFake runs the scripts, which the fake passes, on real
// servers of every version: where they differ the simulation proves nothing.
func TestCreateLikeTheFake(t *testing.T) {
	s := newStage(t)
	for _, version := range []string{"8.0", "8.1", "9.1"} {
		t.Run(version, func(t *testing.T) {
			s := s.of(t)
			image := "bed.local/valkey:" + version
			if err := s.Bed.LoadImages(t.Context(), image); err != nil {
				t.Fatal(err)
			}
			namespace := bedtest.Namespace(t, s.Bed)
			servers := blankServers(namespace, image)
			if err := s.Client.Create(t.Context(), servers); err != nil {
				t.Fatal(err)
			}
			var addrs []string
			harness.Eventually(t, runningWithin, poll, func() (err error) {
				addrs, err = s.readyPods(namespace, wiretest.Servers)
				return err
			})
			scripts := filepath.Join(harness.Root(t), "internal", "valkey", "wire", "wiretest", "testdata")
			wiretest.Run(t, scripts, wiretest.Real(addrs, timeout.Wait))
			s.empty(namespace, servers)
		})
	}
}

// blankServers are servers that belong to no cluster yet.
func blankServers(namespace, image string) *appsv1.StatefulSet {
	labels := map[string]string{"app": "blank"}
	args := []string{
		"--cluster-enabled", "yes", "--cluster-node-timeout", "5000", "--protected-mode", "no",
		"--save", "", "--repl-diskless-sync-delay", "0", "--dir", "/tmp",
	}
	return &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "blank"},
		Spec: appsv1.StatefulSetSpec{
			Replicas: new(int32(wiretest.Servers)), ServiceName: "blank",
			PodManagementPolicy: appsv1.ParallelPodManagement,
			Selector:            &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{
					TerminationGracePeriodSeconds: new(int64(1)),
					Containers: []corev1.Container{{
						Name: "server", Image: image, ImagePullPolicy: corev1.PullNever,
						Args: args,
						ReadinessProbe: &corev1.Probe{PeriodSeconds: 1, ProbeHandler: corev1.ProbeHandler{
							Exec: &corev1.ExecAction{Command: []string{"valkey-cli", "ping"}},
						}},
					}},
				},
			},
		},
	}
}
