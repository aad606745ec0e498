package bed

import (
	"fmt"
	"net"
	"strconv"

	"github.com/statecraft-dev/statecraft/test/bed/internal/hostnet"
)

const (
	serviceRange     = hostnet.ServiceRange
	kubernetesIP     = "198.19.0.1"
	clusterDomain    = "cluster.local"
	loopback         = "127.0.0.1"
	kubernetesDomain = "kubernetes.default.svc"
)

// layout is where the servers of a bed listen.
type layout struct {
	apiHost      string
	apiPort      int
	etcdPort     int
	etcdPeerPort int
	// endpoints is how the API server publishes itself in the cluster: not at all where only loopback is,
	// since a Service may not point there.
	endpoints string
	// volumes is where the controller manager makes directories for claims; nothing is provisioned if empty.
	volumes string
}

func newLayout() (layout, error) {
	ports, err := freePorts(3)
	if err != nil {
		return layout{}, err
	}
	return layout{
		apiHost: loopback, apiPort: ports[0], etcdPort: ports[1], etcdPeerPort: ports[2], endpoints: "none",
	}, nil
}

func (l layout) apiURL() string {
	return "https://" + net.JoinHostPort(l.apiHost, strconv.Itoa(l.apiPort))
}

func (l layout) etcdURL() string { return fmt.Sprintf("http://%s:%d", loopback, l.etcdPort) }

func (l layout) etcdPeerURL() string { return fmt.Sprintf("http://%s:%d", loopback, l.etcdPeerPort) }

// freePorts can be replaced by a test that wants a port to be taken.
var freePorts = kernelPorts

// kernelPorts asks the kernel for ports, all held until the last is found so that they differ.
func kernelPorts(n int) ([]int, error) {
	ports := make([]int, n)
	for i := range ports {
		listener, err := net.Listen("tcp", net.JoinHostPort(loopback, "0"))
		if err != nil {
			return nil, fmt.Errorf("find a free port: %w", err)
		}
		defer func() { _ = listener.Close() }()
		ports[i] = listener.Addr().(*net.TCPAddr).Port
	}
	return ports, nil
}
