package child

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/statecraft-dev/statecraft/internal/remediation/policy"
)

// ErrStarved says that a process was stopped before the machine had let it work. That says nothing
// about the policy.
var ErrStarved = errors.New("the machine is too busy to evaluate the policy pack")

// starved is the CPU time below which a process that was stopped counts as starved. An ordinary
// answer takes a tenth of it.
const starved = Wall / 8

// run asks a question in a new process.
func (c *Client) run(ctx context.Context, q policy.Question, encoded []byte) (policy.Reply, error) {
	bounded, cancel := context.WithTimeout(ctx, c.wall)
	defer cancel()
	stdout, stderr := &head{most: maxReply, strict: true}, &head{most: maxStderr}
	cmd := exec.CommandContext(bounded, c.argv[0], c.argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(encoded), stdout, stderr
	// It gets no secrets from our environment.
	cmd.Env = []string{"GOMAXPROCS=" + processors}
	cmd.WaitDelay = time.Second // for pipes that a grandchild holds
	began := time.Now()
	err := cmd.Run()
	c.report(cmd.ProcessState, time.Since(began))
	if ctx.Err() != nil {
		return policy.Reply{}, fmt.Errorf("evaluate policy pack: %w", ctx.Err())
	}
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return killed(q, exit.ProcessState, bounded.Err() != nil, stderr.kept.String())
	}
	if err != nil {
		return policy.Reply{}, fmt.Errorf("evaluate policy pack: %w", err)
	}
	var r policy.Reply
	if err := json.Unmarshal(stdout.kept.Bytes(), &r); err != nil {
		return policy.Reply{}, fmt.Errorf("read reply of the evaluation: %w", err)
	}
	if r.Problem != "" {
		r.Answer = policy.Answer{}
	}
	return r, nil
}

// killed tells what a pack is the cause of from what happened to its process: a pack that needs too
// much denies, and a process that could not work is asked again.
func killed(q policy.Question, state *os.ProcessState, late bool, stderr string) (policy.Reply, error) {
	// The kernel counts by ticks, so a process that it stops for its CPU time shows a little less.
	worked := state.UserTime() + state.SystemTime()
	status, _ := state.Sys().(syscall.WaitStatus)
	switch {
	case late && worked < starved:
		return policy.Reply{}, fmt.Errorf("evaluate policy pack: %w", ErrStarved)
	case late, worked >= cpuSeconds*time.Second*3/4, ranOut(status, stderr):
		return policy.Deny(q, policy.ProblemExceeded), nil
	}
	return policy.Reply{}, fmt.Errorf("evaluate policy pack: the process ended with %s", state)
}

// runtimeWords are what the Go runtime says when it gets no memory, or no thread for want of memory.
// Its garbage collector does not check, and follows a nil pointer.
var runtimeWords = []string{"fatal error: ", "runtime: ", "runtime/cgo: ", "SIGSEGV: ", "SIGBUS: "}

// ranOut says that a process crashed because it got no more memory. A panic is no such crash.
func ranOut(status syscall.WaitStatus, stderr string) bool {
	crashed := status.Exited() && status.ExitStatus() == 2 || status.Signaled() && status.Signal() != syscall.SIGKILL
	return crashed && slices.ContainsFunc(runtimeWords, func(w string) bool { return strings.Contains(stderr, w) })
}
