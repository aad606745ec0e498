package process

import (
	"os"
	"os/exec"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func TestAReusedIDIsNeverSignalled(t *testing.T) {
	child := exec.CommandContext(t.Context(), "sleep", "60")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	sleeper, err := Identify(child.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	for what, other := range map[string]Identity{
		"one that started at another time":  {PID: sleeper.PID, Start: sleeper.Start - 1, Boot: sleeper.Boot},
		"one of before the machine's start": {PID: sleeper.PID, Start: sleeper.Start, Boot: "another"},
	} {
		if other.Alive() {
			t.Errorf("%s is taken for alive", what)
		}
		if err := other.Signal(unix.SIGKILL); err != nil {
			t.Errorf("signal %s: %v", what, err)
		}
	}
	if err := child.Process.Signal(syscall.Signal(0)); err != nil || !sleeper.Alive() {
		t.Fatalf("a signal to another ended the process: %v", err)
	}
	if err := sleeper.Signal(unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	// Not yet waited for: it has ended all the same.
	if err := sleeper.AwaitEnd(t.Context()); err != nil {
		t.Error(err)
	}
	_ = child.Wait()
	if err := sleeper.Signal(unix.SIGKILL); err != nil {
		t.Errorf("signal to a process that is gone: %v", err)
	}
}

func TestAProcessWithAnyNameCanBeIdentified(t *testing.T) {
	path := t.TempDir() + "/a) R 1 (b"
	if err := os.Symlink("/bin/sleep", path); err != nil {
		t.Fatal(err)
	}
	child := exec.CommandContext(t.Context(), path, "60")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = child.Process.Kill(); _ = child.Wait() }()
	id, err := Identify(child.Process.Pid)
	if err != nil || id.Start == 0 {
		t.Errorf("%+v, %v", id, err)
	}
}
