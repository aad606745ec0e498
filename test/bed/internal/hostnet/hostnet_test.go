package hostnet

import (
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// machine makes a network of its own for the test, with a default route such as any machine has. The thread is
// never given back: it ends with the test, and its network with it.
func machine(t *testing.T) {
	t.Helper()
	runtime.LockOSThread()
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		t.Fatal(err)
	}
	err := ip(t.Context(),
		"link add out0 type veth peer name out1",
		"addr add 192.0.2.2/24 dev out0",
		"link set out0 up",
		"link set out1 up",
		"route add default via 192.0.2.1",
	)
	if err != nil {
		t.Fatal(err)
	}
}

func route(t *testing.T, address string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "ip", "route", "get", address).CombinedOutput()
	if err != nil && strings.Contains(string(out), "No route to host") {
		return "unreachable"
	}
	return string(out)
}

func TestTheGuardKeepsTheBlockOnThisMachine(t *testing.T) {
	machine(t)
	check := func(when string, want map[string]string) {
		t.Helper()
		for address, where := range want {
			if got := route(t, address); !strings.Contains(got, where) {
				t.Errorf("%s: the way to %s is %s, want %s", when, address, got, where)
			}
		}
	}
	const service, pod, nobody = "198.19.0.1", "198.18.1.5", "198.18.77.1"
	check("without a guard", map[string]string{service: "dev out0", pod: "dev out0", nobody: "dev out0"})
	if err := Guard(t.Context()); err != nil {
		t.Fatal(err)
	}
	guarded := map[string]string{service: "unreachable", pod: "unreachable", nobody: "unreachable", "198.20.0.1": "dev out0"}
	check("guarded", guarded)
	if err := Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	check("with a bridge", map[string]string{service: "dev " + Bridge, NodeAddress(2): "dev " + Bridge, nobody: "unreachable"})
	for range 2 { // what is gone already is no error
		if err := Down(t.Context(), 3); err != nil {
			t.Fatal(err)
		}
	}
	check("after the bridge", guarded)
}
