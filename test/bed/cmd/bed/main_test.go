package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/statecraft-dev/statecraft/test/bed/internal/hostnet"
)

const (
	// asCommand makes this test binary behave as the command itself.
	asCommand = "STATECRAFT_BED_TEST_AS_COMMAND"
	// roundsEnv is how often up and down are tried in a row.
	roundsEnv = "STATECRAFT_BED_ROUNDS"
	// warmUp is the promise to a person who waits, with everything built.
	warmUp = 45 * time.Second
)

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

func TestUpAndDownLeaveNothingBehind(t *testing.T) {
	rounds := 1
	if text := os.Getenv(roundsEnv); text != "" {
		var err error
		if rounds, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	dir := filepath.Join(t.TempDir(), "cluster")
	before := snapshot(t)
	for round := range rounds {
		began := time.Now()
		command(t, "up", "-dir", dir)
		took := time.Since(began)
		checkUp(t, dir)
		began = time.Now()
		command(t, "down", "-dir", dir)
		t.Logf("round %d: up %.1f s, down %.1f s", round+1, took.Seconds(), time.Since(began).Seconds())
		if diff := cmp.Diff(before, snapshot(t)); diff != "" {
			t.Fatalf("up and down changed the machine (-before +after):\n%s", diff)
		}
	}
}

func TestDownTidiesUpAfterAKilledClusterWithAFrozenNode(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cluster")
	before := snapshot(t)
	command(t, "up", "-dir", dir)
	freezeNode(t)
	s, _, err := load(options{dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Supervisor.Signal(unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	command(t, "down", "-dir", dir)
	if diff := cmp.Diff(before, snapshot(t)); diff != "" {
		t.Fatalf("a killed cluster left something (-before +after):\n%s", diff)
	}
}

func TestACommandThatIsNotKnownSaysHowToUseIt(t *testing.T) {
	for _, args := range [][]string{{}, {"sideways"}, {"up", "-sideways"}} {
		if err := run(t.Context(), args); !errors.Is(err, errUsage) {
			t.Errorf("%q: %v", args, err)
		}
	}
}

// command runs this program and fails the test if it fails.
func command(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env = append(os.Environ(), asCommand+"=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("bed %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

func checkUp(t *testing.T, dir string) {
	t.Helper()
	if out := command(t, "status", "-dir", dir); !strings.Contains(out, "node1   Ready") {
		t.Errorf("status of a cluster that is up:\n%s", out)
	}
	s, _, err := load(options{dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if took := time.Since(s.Since); took > warmUp {
		t.Errorf("up took %s, promised are %s", took, warmUp)
	}
	for address, want := range map[string]string{
		"198.19.0.1":    "dev " + hostnet.Bridge, // a Service: through the first node
		"198.18.1.2":    "dev " + hostnet.Bridge, // its pods
		"198.18.77.1":   "unreachable",           // nobody's
		"198.18.200.14": "unreachable",
	} {
		if got := route(address); !strings.Contains(got, want) {
			t.Errorf("route to %s while up: %s, want %s", address, got, want)
		}
	}
}

// freezeNode hangs the node from outside, as Freeze does.
func freezeNode(t *testing.T) {
	t.Helper()
	var frozen int
	err := filepath.WalkDir("/sys/fs/cgroup/freezer", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.Name() != "statecraft-node1" {
			return err
		}
		frozen++
		return os.WriteFile(filepath.Join(path, "freezer.state"), []byte("FROZEN"), 0o644)
	})
	if err != nil || frozen != 1 {
		t.Fatalf("froze %d nodes: %v", frozen, err)
	}
}

// route asks the kernel where a packet would go, without sending one.
func route(address string) string {
	out, err := exec.CommandContext(context.Background(), "ip", "route", "get", address).CombinedOutput()
	if err != nil && strings.Contains(string(out), "No route to host") {
		return "unreachable"
	}
	return string(out)
}

// What up prints can be typed as it is: by the wrapper that knows the cluster of make, or by the cluster's own files.
func TestUpSaysHowToGoOn(t *testing.T) {
	s := state{Kubectl: "/parts/kubectl", Kubeconfig: "/elsewhere/kubeconfig"}
	for want, o := range map[string]options{
		" hack/kubectl get nodes\n":                                      {dir: defaultDir(), nodes: 1},
		" hack/kubectl get namespaces\n":                                 {dir: defaultDir()},
		" /parts/kubectl --kubeconfig=/elsewhere/kubeconfig get nodes\n": {dir: "/elsewhere", nodes: 1},
	} {
		if got := welcome(o, s, time.Second); !strings.Contains(got, want) || !strings.Contains(got, "make bed-down") {
			t.Errorf("no %q in:\n%s", want, got)
		}
	}
}
