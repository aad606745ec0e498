package bed_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/bed/images"
)

// containerOf tells one run of the tools pod from the next.
const containerOf = "--output=jsonpath={.status.containerStatuses[0].containerID}"

func TestAPowerCutEndsPodsAndKeepsTheDisk(t *testing.T) {
	b := bedtest.Nodes(t, oneNode)
	namespace := bedtest.Namespace(t, b)
	if err := b.LoadImages(t.Context(), images.Valkey80); err != nil {
		t.Fatal(err)
	}
	apply(t, b, namespace, fill(t, "testdata/valkey.yaml", valkeys[:1]))
	kubectl(t, b, namespace, "rollout", "status", "statefulset/valkey-80", waitFlag)
	kubectl(t, b, namespace, "exec", "valkey-80-0", "--", "valkey-cli", "set", "key", "kept")

	node := b.Node(1)
	must(t, node.PowerOff(t.Context()))
	if err := node.PowerOff(t.Context()); !errors.Is(err, bed.ErrPower) {
		t.Errorf("power cut to a node without power: %v", err)
	}
	kubectl(t, b, namespace, "wait", "node/node1", "--for=condition=Ready=unknown", waitFlag)
	must(t, node.PowerOn(t.Context()))
	kubectl(t, b, namespace, "wait", "node/node1", "--for=condition=Ready", waitFlag)
	eventually(t, "the value written before the power cut", func(ctx context.Context) (string, bool) {
		out, err := b.Kubectl(ctx, "--namespace="+namespace, "exec", "valkey-80-0", "--", "valkey-cli", "get", "key")
		return out, err == nil && strings.TrimSpace(out) == "kept"
	})
	restarts := kubectl(t, b, namespace, "get", "pod", "valkey-80-0",
		"--output=jsonpath={.status.containerStatuses[0].restartCount}")
	if restarts != "1" {
		t.Errorf("%s restarts, want 1: the power was cut once", restarts)
	}
}

func TestAHungOrCutOffNodeComesBackWithTheSamePods(t *testing.T) {
	b := bedtest.Nodes(t, oneNode)
	namespace := bedtest.Namespace(t, b)
	if err := b.LoadImages(t.Context(), images.Busybox); err != nil {
		t.Fatal(err)
	}
	apply(t, b, namespace, "testdata/tools.yaml")
	kubectl(t, b, namespace, "wait", "pod/tools", "--for=condition=Ready", waitFlag)
	before := kubectl(t, b, namespace, "get", "pod", "tools", containerOf)
	node := b.Node(1)
	for what, fault := range map[string]struct{ strike, mend func(context.Context) error }{
		"hung":    {strike: node.Freeze, mend: node.Thaw},
		"cut off": {strike: node.Cut, mend: node.Heal},
	} {
		t.Run(what, func(t *testing.T) {
			must(t, fault.strike(t.Context()))
			kubectl(t, b, namespace, "wait", "node/node1", "--for=condition=Ready=unknown", waitFlag)
			must(t, fault.mend(t.Context()))
			kubectl(t, b, namespace, "wait", "node/node1", "--for=condition=Ready", waitFlag)
			kubectl(t, b, namespace, "wait", "pod/tools", "--for=condition=Ready", waitFlag)
			if after := kubectl(t, b, namespace, "get", "pod", "tools", containerOf); after != before {
				t.Errorf("container %s became %s", before, after)
			}
		})
	}
}

func TestACommandOnANodeSeesTheNode(t *testing.T) {
	b := bedtest.Nodes(t, oneNode)
	out, err := b.Node(1).Command(t.Context(), "ip", "-o", "addr", "show", "dev", "eth0").CombinedOutput()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(out), b.Node(1).Address()) {
		t.Errorf("eth0 of the node: %s", out)
	}
	routes, err := b.Node(1).Command(t.Context(), "ip", "route", "show", "default").CombinedOutput()
	if err != nil || len(routes) > 0 {
		t.Errorf("a node has a way off this machine: %s %v", routes, err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestTheRuntimeCrashesAndPodsGoOn(t *testing.T) {
	b := bedtest.Nodes(t, oneNode)
	namespace := bedtest.Namespace(t, b)
	must(t, b.LoadImages(t.Context(), images.Busybox))
	apply(t, b, namespace, "testdata/tools.yaml")
	kubectl(t, b, namespace, "wait", "pod/tools", "--for=condition=Ready", waitFlag)
	before := kubectl(t, b, namespace, "get", "pod", "tools", containerOf)
	must(t, b.Node(1).Crash(t.Context(), bed.Containerd))
	eventually(t, "a command in the pod", func(ctx context.Context) (string, bool) {
		out, err := b.Kubectl(ctx, "--namespace="+namespace, "exec", "tools", "--", "hostname")
		return out, err == nil && out == "tools\n"
	})
	if after := kubectl(t, b, namespace, "get", "pod", "tools", containerOf); after != before {
		t.Errorf("container %s became %s", before, after)
	}
}
