package bed

import (
	"net"
	"testing"
)

func TestAPortThatWasTakenMeanwhileIsReplaced(t *testing.T) {
	rival, err := net.Listen("tcp", net.JoinHostPort(loopback, "0"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rival.Close() }()
	taken := rival.Addr().(*net.TCPAddr).Port
	attempts := 0
	freePorts = func(n int) ([]int, error) {
		ports, err := kernelPorts(n)
		if attempts++; attempts == 1 {
			ports[0] = taken
		}
		return ports, err
	}
	defer func() { freePorts = kernelPorts }()
	b, err := Start(t.Context(), ControlPlane)
	if err != nil {
		t.Fatal(err)
	}
	if attempts != 2 {
		t.Errorf("%d attempts, want 2", attempts)
	}
	if err := b.Stop(); err != nil {
		t.Error(err)
	}
}
