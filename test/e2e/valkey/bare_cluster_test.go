//go:build full

package valkey

import (
	"net"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statecraft-dev/statecraft/internal/valkey/wire/wiretest"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
)

// bareCluster is what people make by hand: a StatefulSet, and valkey-cli.
func (s *stage) bareCluster() (*appsv1.StatefulSet, []string) {
	s.T.Helper()
	servers := blankServers(bedtest.Namespace(s.T, s.Bed), image)
	s.must(s.Client.Create(s.T.Context(), servers))
	var addrs []string
	harness.Eventually(s.T, runningWithin, poll, func() (err error) {
		addrs, err = s.readyPods(servers.Namespace, wiretest.Servers)
		return err
	})
	command := append([]string{"valkey-cli", "--cluster", "create"}, addrs...)
	s.exec(servers.Namespace, "blank-0", append(command, "--cluster-replicas", "1", "--cluster-yes")...)
	return servers, addrs
}

// barePod is the pod that listens there.
func (s *stage) barePod(namespace, addr string) (found corev1.Pod) {
	s.T.Helper()
	host, _, err := net.SplitHostPort(addr)
	s.must(err)
	var pods corev1.PodList
	s.must(s.Client.List(s.T.Context(), &pods, client.InNamespace(namespace)))
	for _, p := range pods.Items {
		if p.Status.PodIP == host {
			return p
		}
	}
	s.T.Fatalf("no pod at %s", addr)
	return found
}
