package main

import (
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/bed/internal/hostnet"
	"github.com/statecraft-dev/statecraft/test/bed/internal/loop"
)

// counters are what changes by itself: packets, lifetimes, dates.
var counters = regexp.MustCompile(`\[\d+:\d+\]|(valid_lft|preferred_lft|expires) \S+|(?m)^#.*$`)

// snapshot is all of the machine that a bed could change and must put back. It is taken while no bed with nodes
// is up, the test's own or another's. The guard is set first: it is the one thing that stays.
func snapshot(t *testing.T) map[string][]string {
	t.Helper()
	unlock, err := bed.LockNodes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unlock() }()
	if err := hostnet.Guard(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := route("198.19.0.1"); got != "unreachable" {
		t.Errorf("without a bed a Service address is routed: %s", got)
	}
	seen := map[string][]string{
		"control groups": controlGroups(),
		"processes":      processes(t),
		"loop devices":   loopDevices(t),
	}
	for _, command := range []string{
		"ip -o link", "ip -o addr", "ip route show table all", "ip -6 route show table all",
		"iptables-save", "ip6tables-save", "findmnt --list --noheadings --output TARGET,SOURCE",
	} {
		seen[command] = output(t, command)
	}
	return seen
}

func output(t *testing.T, command string) []string {
	t.Helper()
	fields := strings.Fields(command)
	out, err := exec.CommandContext(t.Context(), fields[0], fields[1:]...).Output()
	if err != nil {
		t.Fatalf("%s: %v", command, err)
	}
	return strings.Split(counters.ReplaceAllString(string(out), ""), "\n")
}

// loopDevices are those over files of the test: other beds come and go meanwhile.
func loopDevices(t *testing.T) []string {
	t.Helper()
	devices, err := loop.Devices()
	if err != nil {
		t.Fatal(err)
	}
	maps.DeleteFunc(devices, func(_, file string) bool { return !strings.HasPrefix(file, directory(t)) })
	return slices.Sorted(maps.Keys(devices))
}

// directory is what the paths of all files of a test begin with.
func directory(t *testing.T) string {
	return os.TempDir() + "/" + strings.SplitN(t.Name(), "/", 2)[0]
}

func controlGroups() []string {
	var found []string
	_ = filepath.WalkDir("/sys/fs/cgroup", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && strings.HasPrefix(entry.Name(), "statecraft-") {
			found = append(found, path)
		}
		return nil
	})
	return found
}

// processes are those in namespaces other than this one's: all that a node starts is. The control plane is in
// ours, so its servers are looked for by the directory of the test.
func processes(t *testing.T) []string {
	t.Helper()
	mine := directory(t)
	own, err := os.Readlink("/proc/self/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, dir := range dirs {
		namespace, err := os.Readlink(filepath.Join(dir, "ns/net"))
		if err != nil {
			continue // gone meanwhile
		}
		command, err := os.ReadFile(filepath.Join(dir, "cmdline"))
		if err != nil {
			continue
		}
		if namespace != own || strings.Contains(string(command), mine) {
			found = append(found, filepath.Base(dir)+" "+strings.ReplaceAll(string(command), "\x00", " "))
		}
	}
	slices.Sort(found)
	return found
}
