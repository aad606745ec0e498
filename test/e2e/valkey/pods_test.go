package valkey

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/valkey/cluster"
	"github.com/statecraft-dev/statecraft/test/harness"
)

// pods are the pods of a cluster, by name.
func (s *stage) pods(vkc *valkeyv1.ValkeyCluster) map[string]corev1.Pod {
	s.T.Helper()
	var list corev1.PodList
	if err := s.Client.List(s.T.Context(), &list, client.InNamespace(vkc.Namespace), client.MatchingLabels{valkeyv1.ClusterLabel: vkc.Name}); err != nil {
		s.T.Fatal(err)
	}
	pods := map[string]corev1.Pod{}
	for _, p := range list.Items {
		pods[p.Name] = p
	}
	return pods
}

// dump shows what a cluster that was given up looks like, before it goes with its namespace.
func (s *stage) dump(namespace string) {
	s.T.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	show := func(args ...string) {
		out, err := s.Bed.Kubectl(ctx, append([]string{"-n", namespace}, args...)...)
		s.T.Logf("kubectl %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	show("get", "pods", "-o", "wide")
	show("get", "vkc,vku", "-o", "yaml")
	var list corev1.PodList
	if err := s.Client.List(ctx, &list, client.InNamespace(namespace)); err != nil {
		s.T.Log(err)
	}
	for _, p := range list.Items {
		show("logs", p.Name, "--tail=25", "--all-containers")
		show("exec", p.Name, "--", "valkey-cli", "cluster", "nodes")
	}
}

// replaced waits until other pods stand where these were.
func (s *stage) replaced(vkc *valkeyv1.ValkeyCluster, was map[string]corev1.Pod) {
	s.T.Helper()
	harness.Eventually(s.T, runningWithin, poll, func() error {
		pods := s.pods(vkc)
		for name, p := range was {
			if is, exists := pods[name]; !exists || is.UID == p.UID || is.Status.PodIP == "" {
				return fmt.Errorf("%s is not there yet", name)
			}
		}
		return nil
	})
}

// restarted waits until the server of a pod was started once more.
func (s *stage) restarted(vkc *valkeyv1.ValkeyCluster, pod string) {
	s.T.Helper()
	harness.Eventually(s.T, runningWithin, poll, func() error {
		for _, c := range s.pods(vkc)[pod].Status.ContainerStatuses {
			if c.RestartCount > 0 && c.State.Running != nil {
				return nil
			}
		}
		return fmt.Errorf("%s was not started again", pod)
	})
}

// whole waits until a cluster has everything that it should have, and says so.
func (s *stage) whole(vkc *valkeyv1.ValkeyCluster) {
	s.T.Helper()
	harness.Eventually(s.T, runningWithin, poll, func() error {
		if err := s.Client.Get(s.T.Context(), client.ObjectKeyFromObject(vkc), vkc); err != nil {
			return err
		}
		nodes := vkc.Status.Masters * (1 + *vkc.Spec.ReplicasPerMaster)
		if vkc.Status.Phase != cluster.Running || vkc.Status.ReadyNodes != fmt.Sprintf("%d/%d", nodes, nodes) {
			return fmt.Errorf("is %s with %s nodes, waiting for %q", vkc.Status.Phase, vkc.Status.ReadyNodes, vkc.Status.WaitingFor)
		}
		for name, p := range s.pods(vkc) {
			verdict, err := s.Bed.Kubectl(s.T.Context(), "exec", "-n", p.Namespace, name, "-c", "valkey", "--", "valkey-cli", "cluster", "info")
			if err != nil {
				return fmt.Errorf("ask %s: %w: %s", name, err, verdict)
			}
			for _, want := range []string{"cluster_state:ok", "cluster_slots_ok:16384", fmt.Sprintf("cluster_known_nodes:%d", nodes)} {
				if !strings.Contains(verdict, want) {
					return fmt.Errorf("%s does not say %s", name, want)
				}
			}
		}
		return nil
	})
}
