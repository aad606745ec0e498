package kube

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"sync/atomic"
	"syscall"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statecraft-dev/statecraft/internal/kube/kubetest"
	"github.com/statecraft-dev/statecraft/test/bed"
)

// contenderEnv carries the order to be a contender, instead of running tests.
const contenderEnv = "STATECRAFT_TEST_CONTENDER"

// order is what a contender process is told.
type order struct {
	Contest    contest
	ID         string
	Kubeconfig string
	Seed       uint64
}

// contend is the life of a contender process; it ends when it is killed.
func contend(text string) error {
	var o order
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return err
	}
	cfg, err := clientcmd.BuildConfigFromFlags("", o.Kubeconfig)
	if err != nil {
		return err
	}
	cfg.QPS = -1
	c, err := client.New(cfg, client.Options{Scheme: scheme})
	if err != nil {
		return err
	}
	one := newContender(o.Contest, o.ID, o.Seed, stdout{json.NewEncoder(os.Stdout)})
	one.client = c
	for err == nil {
		err = one.round(context.Background())
	}
	return err
}

// stdout is a journal that outlives the process: a line is written before each
// call and after it.
type stdout struct{ *json.Encoder }

func (s stdout) calls(e event)   { _ = s.Encode(e) } // nobody reads any more: the killer is near
func (s stdout) answers(e event) { _ = s.Encode(e) }

// processes is a contender that is a process, killed at any instant and replaced.
type processes struct {
	contest
	*memory
	id     string
	bed    *bed.Bed
	client client.Client
	chance *rand.Rand
	kills  *atomic.Int64
}

func (p *processes) run(ctx context.Context) error {
	kubeconfig, err := p.bed.KubeconfigFor(p.id, "system:masters")
	if err != nil {
		return err
	}
	for life := 0; p.acquired.Load() < acquisitions; life++ {
		o := order{Contest: p.contest, ID: fmt.Sprintf("%s-%d", p.id, life), Kubeconfig: kubeconfig, Seed: p.chance.Uint64()}
		if err := p.live(ctx, o); err != nil {
			return err
		}
		p.kills.Add(1)
		if err := p.deleteHolders(ctx, o.ID); err != nil {
			return err
		}
	}
	return nil
}

// live runs a process until it is killed, and notes what it said it did.
func (p *processes) live(ctx context.Context, o order) error {
	text, err := json.Marshal(o)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), contenderEnv+"="+string(text))
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	cmd.Stderr = os.Stderr
	said, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	after := 500*time.Millisecond + time.Duration(p.chance.Int64N(int64(3*time.Second)))
	killer := time.AfterFunc(after, func() { _ = cmd.Process.Kill() }) // it may have ended by itself, which Wait tells
	defer killer.Stop()
	pending := event{}
	for lines := bufio.NewScanner(said); lines.Scan(); {
		var e event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			break // cut off in the middle
		}
		if pending = e; e.Result != "" {
			p.answers(e)
			pending = event{}
		}
	}
	if pending.Verb != "" { // its last call may still be under way
		pending.Result, pending.Returned = resultUnknown, never
		p.answers(pending)
	}
	if err := cmd.Wait(); err == nil || cmd.ProcessState.Exited() {
		return fmt.Errorf("contender %s was not killed: %w", o.ID, err)
	}
	return nil
}

// deleteHolders deletes the holders that a killed process left behind.
func (p *processes) deleteHolders(ctx context.Context, id string) error {
	var left kubetest.LampList
	if err := p.client.List(ctx, &left, client.InNamespace(p.Namespace), client.MatchingLabels{"contender": id}); err != nil {
		return err
	}
	one := newContender(p.contest, id, 0, p.memory)
	for i := range left.Items {
		holder, target := &left.Items[i], 0
		if _, err := fmt.Sscan(holder.Labels["target"], &target); err != nil {
			return err
		}
		one.holders[target] = holder
		if err := one.end(target, func() error { return client.IgnoreNotFound(p.client.Delete(ctx, holder)) }); err != nil {
			return err
		}
	}
	return nil
}
