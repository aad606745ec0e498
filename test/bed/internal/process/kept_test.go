package process

import (
	"context"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/statecraft-dev/statecraft/test/timeout"
)

const (
	soon     = timeout.Wait
	askEvery = 20 * time.Millisecond
)

func TestAKeptServerComesBackUntilItIsStopped(t *testing.T) {
	k := Keep(Command{Name: "sleeper", Path: "/bin/sleep", Args: []string{"60"}}, t.TempDir())
	t.Cleanup(func() { _ = k.Stop(context.Background()) })
	if _, runs := k.PID(); runs {
		t.Error("it runs before it is started")
	}
	if err := k.Start(); err != nil {
		t.Fatal(err)
	}
	first, _ := k.PID()
	id, err := Identify(first)
	if err != nil {
		t.Fatal(err)
	}
	if err := id.Signal(unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	var second int
	err = wait.PollUntilContextTimeout(t.Context(), askEvery, soon, true, func(context.Context) (bool, error) {
		var runs bool
		second, runs = k.PID()
		return runs && second != first, nil
	})
	if err != nil {
		t.Fatalf("it did not come back: %v", err)
	}
	if id, err = Identify(second); err != nil {
		t.Fatal(err)
	}
	if err := k.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, runs := k.PID(); runs || id.Alive() {
		t.Error("it runs after it was stopped")
	}
	if err := k.Start(); err != nil {
		t.Fatal(err)
	}
	if third, runs := k.PID(); !runs || third == second {
		t.Errorf("process %d after another start, runs: %t", third, runs)
	}
}
