package valkey

import (
	"net"
	"strconv"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
)

// addr is where the first server of a cluster listens.
func (s *stage) addr(vkc *valkeyv1.ValkeyCluster) string {
	s.T.Helper()
	ip, err := s.Bed.Kubectl(s.T.Context(), "get", "pod", "-n", vkc.Namespace, vkc.Name+"-0-0", "-o", "jsonpath={.status.podIP}")
	if err != nil {
		s.T.Fatal(err)
	}
	return net.JoinHostPort(ip, strconv.Itoa(valkeyv1.ClientPort))
}
