package bed_test

import (
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/bed/internal/loop"
)

func TestABedWithStorageEndsWithItsSidecarsAndLoopDevices(t *testing.T) {
	b, err := bed.Start(t.Context(), bed.CSI)
	must(t, err)
	t.Cleanup(func() { _ = b.Stop() })
	apply(t, b, "default", "testdata/block.yaml")
	kubectl(t, b, "default", "wait", "pvc/block", "--for=jsonpath={.status.phase}=Bound", waitFlag)
	if n := len(devices(t, b.Dir())); n != 1 {
		t.Errorf("%d loop devices, want 1", n)
	}
	pids := b.PIDs()
	for _, name := range []string{bed.CSIDaemon, bed.ProvisionerSidecar, bed.SnapshotterSidecar, bed.SnapshotController} {
		if pids[name] == 0 {
			t.Errorf("%s does not run", name)
		}
	}
	must(t, b.Stop())
	for name, pid := range pids {
		if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
			t.Errorf("%s (%d) still lives: %v", name, pid, err)
		}
	}
	if left := devices(t, b.Dir()); len(left) > 0 {
		t.Errorf("loop devices %v outlived the bed", left)
	}
}

func TestLoopDevicesOfAKilledBedAreFoundAndThoseOfALivingOneLeftAlone(t *testing.T) {
	b, err := bed.Start(t.Context(), bed.CSI)
	must(t, err)
	t.Cleanup(func() { must(t, b.Stop()) })
	apply(t, b, "default", "testdata/block.yaml")
	kubectl(t, b, "default", "wait", "pvc/block", "--for=jsonpath={.status.phase}=Bound", waitFlag)

	killed := t.TempDir()
	attach(t, filepath.Join(killed, "csi", loop.Volumes, "volume"))
	if n := len(devices(t, killed)); n != 2 {
		t.Fatalf("%d loop devices, want 2", n)
	}
	must(t, bed.RemoveLeftovers(t.Context()))
	if left := devices(t, killed); len(left) > 0 {
		t.Errorf("loop devices %v of a killed bed are left", left)
	}
	if n := len(devices(t, b.Dir())); n != 1 {
		t.Errorf("%d loop devices of a bed that lives, want 1", n)
	}
}

func TestADirectoryTooDeepForSocketsIsRefused(t *testing.T) {
	deep := filepath.Join(t.TempDir(), strings.Repeat("deep", 20))
	if _, err := bed.StartIn(t.Context(), deep, bed.CSI); !errors.Is(err, bed.ErrLongPath) {
		t.Errorf("started in %s: %v", deep, err)
	}
}

// devices are the loop devices over files below a directory.
func devices(t *testing.T, below string) []string {
	t.Helper()
	all, err := loop.Devices()
	must(t, err)
	var found []string
	for device, file := range all {
		if strings.HasPrefix(file, below+"/") {
			found = append(found, device)
		}
	}
	return found
}

// attach makes a block volume as a pod has it: a device over the file, and kubelet's over that.
func attach(t *testing.T, file string) {
	t.Helper()
	run := func(name string, args ...string) string {
		t.Helper()
		out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput()
		if err != nil {
			t.Fatalf("%s %q: %v: %s", name, args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	run("mkdir", "--parents", filepath.Dir(file))
	run("truncate", "--size=1M", file)
	run("losetup", "--find", run("losetup", "--find", "--show", file))
}
