package kube

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/kubetest"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

// slowLeaderEnv carries the kubeconfig and the folder of a slow leader, instead of running tests.
const (
	slowLeaderEnv       = "STATECRAFT_TEST_SLOW_LEADER"
	slowLeaderFolderEnv = "STATECRAFT_TEST_SLOW_LEADER_FOLDER"
)

// What a slow leader and its test tell each other by files in a folder.
const (
	commandBegan    = "began"
	commandMayEnd   = "may-end"
	commandReturned = "returned"
)

// leadSlowly is the life of a manager whose worker is inside a command that cannot be stopped.
func leadSlowly(kubeconfig, folder string) error {
	cfg, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	touch := func(name string) error { return os.WriteFile(filepath.Join(folder, name), nil, 0o600) }
	command := func(context.Context) (bool, error) {
		if err := touch(commandBegan); err != nil {
			return false, err
		}
		for !exists(folder, commandMayEnd) {
			<-time.After(poll)
		}
		return true, touch(commandReturned)
	}
	setup := func(a *kube.Area) error {
		worker := &kube.Worker[struct{}]{Wake: func(read.Key) {}}
		worker.Begin(read.Key{Name: "slow"}, kube.WithoutResult(command))
		return a.Run(worker.Start)
	}
	return kube.Run(ctrl.SetupSignalHandler(), cfg, kube.Options{
		Areas:     []kube.AreaSetup{{Name: slowArea, AddToScheme: kubetest.AddToScheme, Setup: setup}},
		Namespace: harness.SystemNamespace, MetricsAddress: "0", ProbeAddress: "0",
		Election: kube.Election{LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 500 * time.Millisecond},
	})
}

const slowArea = "slow"

func exists(folder, name string) bool {
	_, err := os.Stat(filepath.Join(folder, name))
	return err == nil
}

// TestTheLeaseIsHeldUntilTheLastCommandHasReturned: the next leader begins when the Lease is free. A command of the
// last one that is still under way could undo what it does.
func TestTheLeaseIsHeldUntilTheLastCommandHasReturned(t *testing.T) {
	b, folder := bedtest.ControlPlane(t), t.TempDir()
	harness.Install(t, b, "capture") // for the namespace
	kubeconfig, err := b.KubeconfigFor("slow-leader", "system:masters")
	if err != nil {
		t.Fatal(err)
	}
	manager := exec.CommandContext(t.Context(), os.Args[0])
	manager.Env = append(os.Environ(), slowLeaderEnv+"="+kubeconfig, slowLeaderFolderEnv+"="+folder)
	manager.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	manager.Stderr = os.Stderr
	if err := manager.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- manager.Wait() }()
	c := newClient(t, b.Config())
	harness.Eventually(t, soon, poll, func() error {
		if !exists(folder, commandBegan) {
			return errors.New("no command is under way yet")
		}
		return nil
	})
	leader := leaderOf(t, c, slowArea)
	if leader == "" {
		t.Fatal("a worker runs in a process that does not lead")
	}
	if err := manager.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	harness.Consistently(t, watchful, poll, func() error {
		if who := leaderOf(t, c, slowArea); who != leader {
			return fmt.Errorf("%q leads while a command of %q is under way", who, leader)
		}
		return nil
	})
	if err := os.WriteFile(filepath.Join(folder, commandMayEnd), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ended: // how does not matter: it was told to
	case <-time.After(timeout.Wait):
		t.Fatal("the manager does not end")
	}
	if who := leaderOf(t, c, slowArea); who != "" || !exists(folder, commandReturned) {
		t.Errorf("the Lease is held by %q; the command has returned: %t", who, exists(folder, commandReturned))
	}
}
