package main

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

func TestVolumesInUseLeaveNothingBehind(t *testing.T) {
	for how, end := range map[string]func(t *testing.T, s state){
		"told to end": func(*testing.T, state) {},
		"killed": func(t *testing.T, s state) {
			if err := s.Supervisor.Signal(unix.SIGKILL); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(how, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "cluster")
			before := snapshot(t)
			command(t, "up", "-dir", dir, "-csi")
			s, _, err := load(options{dir: dir})
			if err != nil {
				t.Fatal(err)
			}
			useVolumes(t, s)
			end(t, s)
			command(t, "down", "-dir", dir)
			if diff := cmp.Diff(before, snapshot(t)); diff != "" {
				t.Fatalf("a cluster with volumes left something (-before +after):\n%s", diff)
			}
		})
	}
}

// useVolumes runs a pod that has a volume of files and one of blocks.
func useVolumes(t *testing.T, s state) {
	t.Helper()
	for _, args := range [][]string{
		{"apply", "--filename=testdata/storage.yaml"},
		{"wait", "pod/user", "--for=condition=Ready", "--timeout=60s"},
	} {
		args = append([]string{"--kubeconfig=" + s.Kubeconfig}, args...)
		if out, err := exec.CommandContext(t.Context(), s.Kubectl, args...).CombinedOutput(); err != nil {
			t.Fatalf("kubectl %q: %v: %s", args, err, out)
		}
	}
	if len(loopDevices(t)) == 0 {
		t.Error("a volume of blocks without a loop device")
	}
}
