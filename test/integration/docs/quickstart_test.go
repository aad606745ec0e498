package docs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

const poll = 250 * time.Millisecond

// TestFiveMinutesWorkAsPrinted types every command of the README's quick start, in two terminals.
func TestFiveMinutesWorkAsPrinted(t *testing.T) {
	section := harness.Section(t, "README.md", "## Five minutes")
	me := harness.NewPerson(t, append(os.Environ(), "TMPDIR="+t.TempDir()))
	t.Cleanup(func() { _, _ = me.Type("make bed-down") }) // if the page did not get there
	var second *terminal
	for _, statement := range harness.Statements(section) {
		switch command, comment, _ := strings.Cut(statement, "  #"); {
		case strings.HasPrefix(command, "make run"):
			open(t, me, "make run").interrupt() // all areas, and once more as printed
			second = open(t, me, command)
		case strings.HasPrefix(command, "make bed-down"):
			me.Must(command)
			second.ends()
		case strings.HasPrefix(command, "kubectl get objectkeepers") && comment == "":
			awaitTable(t, me, command, section)
		case strings.HasPrefix(command, "kubectl get objectkeepers"):
			harness.Eventually(t, timeout.Wait, poll, func() error { return lacks(me, command, "\nmenu ") })
		case strings.HasPrefix(command, "kubectl get events"):
			harness.Eventually(t, timeout.Wait, poll, func() error { return has(me, command, strings.Split(comment, ",")...) })
		default:
			me.Must(statement)
		}
	}
}

var printed = regexp.MustCompile("(?ms)^```\nNAME .*?\n(.*?)^```$")

// awaitTable types a command until it answers with the rows that the page prints, but for times.
func awaitTable(t *testing.T, me *harness.Person, command, section string) {
	t.Helper()
	var rows []string
	for _, line := range strings.Split(strings.TrimSpace(printed.FindStringSubmatch(section)[1]), "\n") {
		rows = append(rows, strings.Join(strings.Fields(line)[:4], " "))
	}
	harness.Eventually(t, timeout.Wait, poll, func() error {
		out, err := me.Type(command + " | tr -s ' '")
		if err != nil {
			return err
		}
		if got := strings.Count(strings.TrimSpace(out), "\n"); got != len(rows) {
			return fmt.Errorf("%d rows, the page has %d:\n%s", got, len(rows), out)
		}
		for _, row := range rows {
			if !strings.Contains(out, "\n"+row+" ") {
				return fmt.Errorf("no row %q in:\n%s", row, out)
			}
		}
		return nil
	})
}

func has(me *harness.Person, command string, words ...string) error {
	out, err := me.Type(command)
	for _, word := range words {
		if !strings.Contains(out, strings.TrimSpace(word)) {
			err = errors.Join(err, fmt.Errorf("no %s in:\n%s", word, out))
		}
	}
	return err
}

func lacks(me *harness.Person, command, word string) error {
	out, err := me.Type(command)
	if err == nil && strings.Contains(out, word) {
		err = fmt.Errorf("still %q in:\n%s", word, out)
	}
	return err
}

// terminal is a second one, in which a command runs until it is interrupted.
type terminal struct {
	t    *testing.T
	cmd  *exec.Cmd
	done chan error

	mu  sync.Mutex
	out bytes.Buffer
}

// Write implements io.Writer.
func (s *terminal) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.Write(p)
}

func (s *terminal) said() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.String()
}

// open starts a command in a terminal and waits until it says that it is ready.
func open(t *testing.T, me *harness.Person, command string) *terminal {
	t.Helper()
	s := &terminal{t: t, done: make(chan error, 1)}
	s.cmd = me.Command(context.WithoutCancel(t.Context()), "bash", "-c", "exec "+command)
	s.cmd.Stdout, s.cmd.Stderr = s, s
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { s.done <- s.cmd.Wait() }()
	harness.Eventually(t, timeout.Wait, poll, func() error {
		select {
		case err := <-s.done:
			t.Fatalf("%s ended (%v):\n%s", command, err, s.said())
		default:
		}
		if said := s.said(); !strings.Contains(said, "\nready: ") || !strings.HasPrefix(said, "installing") || !strings.Contains(said, "\nbuilding ") {
			return fmt.Errorf("not ready:\n%s", said)
		}
		return nil
	})
	return s
}

// interrupt does what Ctrl-C does: the process group in front of the terminal gets it, which is that of hack/run.
func (s *terminal) interrupt() {
	s.t.Helper()
	shell := onlyChild(s.t, s.cmd.Process.Pid)
	if err := syscall.Kill(-onlyChild(s.t, shell), syscall.SIGINT); err != nil {
		s.t.Fatal(err)
	}
	s.ends()
}

// noise is what nobody wants to read at the end of a command that did what it was asked for.
var noise = regexp.MustCompile(`(?i)goroutine|panic|error|stacktrace|\*\*\*|no such|cannot|killed`)

// ends waits for the end of the command, which is without noise.
func (s *terminal) ends() {
	s.t.Helper()
	select {
	case err := <-s.done:
		s.t.Logf("second terminal:\n%s", s.said())
		if err != nil || noise.MatchString(s.said()) || !strings.Contains(s.said(), "\nended: ") {
			s.t.Errorf("the command ended with %v:\n%s", err, s.said())
		}
	case <-time.After(timeout.Wait):
		s.t.Fatalf("the command does not end:\n%s", s.said())
	}
}

func onlyChild(t *testing.T, pid int) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		t.Fatal(err)
	}
	child, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatalf("process %d has no single child: %q", pid, text)
	}
	return child
}
