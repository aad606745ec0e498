package observe

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// party is those that are watched, and who was said to be lost.
type party struct {
	mu   sync.Mutex
	ends map[string]context.CancelCauseFunc // by address
	lost int
}

var errHungUp = errors.New("hung up")

func (p *party) watch(ctx context.Context, _ read.Key, addr string) error {
	on, end := context.WithCancelCause(ctx)
	p.mu.Lock()
	p.ends[addr] = end
	p.mu.Unlock()
	<-on.Done()
	p.mu.Lock()
	delete(p.ends, addr)
	p.mu.Unlock()
	if cause := context.Cause(on); errors.Is(cause, errHungUp) {
		return cause
	}
	return nil
}

func (p *party) watched() (addrs []string) {
	synctest.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	for addr := range p.ends {
		addrs = append(addrs, addr)
	}
	slices.Sort(addrs)
	return addrs
}

// hangUp ends the connection to one of them, and says how often that was told so far.
func (p *party) hangUp(addr string) (told int) {
	p.mu.Lock()
	p.ends[addr](errHungUp)
	p.mu.Unlock()
	synctest.Wait()
	return p.lost
}

func withMonitor(t *testing.T, test func(t *testing.T, v *PrimaryMonitor, p *party)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := &party{ends: map[string]context.CancelCauseFunc{}}
		v := &PrimaryMonitor{Watch: p.watch, Lost: func(read.Key) { p.mu.Lock(); p.lost++; p.mu.Unlock() }}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- v.Start(ctx) }()
		synctest.Wait()
		test(t, v, p)
		told := p.lost
		stop()
		if err := <-done; err != nil || len(p.watched()) > 0 || p.lost != told {
			t.Errorf("ends with %v, watches %v, told %d times of it", err, p.watched(), p.lost-told)
		}
	})
}

var web = read.Key{Namespace: "shop", Name: "web"}

func TestAPrimaryMonitorTellsOfTheLost(t *testing.T) {
	withMonitor(t, func(t *testing.T, v *PrimaryMonitor, p *party) {
		v.SetPrimaries(web, []string{"a", "b"})
		v.SetPrimaries(web, []string{"a", "b"}) // as after every look
		if got := p.watched(); !slices.Equal(got, []string{"a", "b"}) {
			t.Fatalf("watches %v", got)
		}
		if told := p.hangUp("a"); told != 1 {
			t.Errorf("told %d times", told)
		}
		v.SetPrimaries(web, []string{"b"}) // it does not answer
		if got := p.watched(); !slices.Equal(got, []string{"b"}) {
			t.Errorf("watches %v", got)
		}
	})
}

// What ends every connection must not have servers looked at all the time.
func TestAPrimaryMonitorIsNotHasty(t *testing.T) {
	withMonitor(t, func(t *testing.T, v *PrimaryMonitor, p *party) {
		v.SetPrimaries(web, []string{"a"})
		synctest.Wait()
		p.hangUp("a")
		v.SetPrimaries(web, []string{"a"}) // it answers
		if got := p.watched(); len(got) > 0 {
			t.Errorf("watches %v at once", got)
		}
		<-time.After(notBefore + time.Second)
		v.SetPrimaries(web, []string{"a"})
		if got := p.watched(); !slices.Equal(got, []string{"a"}) {
			t.Errorf("watches %v", got)
		}
	})
}

func TestAPrimaryMonitorLeavesWhoIsNoPrimary(t *testing.T) {
	withMonitor(t, func(t *testing.T, v *PrimaryMonitor, p *party) {
		v.SetPrimaries(web, []string{"a", "b"})
		synctest.Wait()
		v.SetPrimaries(web, []string{"a"})
		if got := p.watched(); !slices.Equal(got, []string{"a"}) {
			t.Errorf("watches %v", got)
		}
		v.SetPrimaries(web, nil)
		if got := p.watched(); len(got) > 0 || p.lost > 0 {
			t.Errorf("watches %v, told %d times", got, p.lost)
		}
	})
}

// Who does not lead yet, or never does, watches nobody.
func TestAPrimaryMonitorBeginsWithItsStart(t *testing.T) {
	p := &party{ends: map[string]context.CancelCauseFunc{}}
	v := &PrimaryMonitor{Watch: p.watch}
	v.SetPrimaries(web, []string{"a"})
	(*PrimaryMonitor)(nil).SetPrimaries(web, []string{"a"})
	if len(p.ends) > 0 {
		t.Error("watches")
	}
}
