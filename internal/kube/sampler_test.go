package kube

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// outside is a world that is polled, and who was woken.
type outside struct {
	mu        sync.Mutex
	value     int
	err       error
	takes     time.Duration // how long a look lasts
	now, most int           // looks under way
	looks     map[read.Key]int
	woken     []string
}

func (o *outside) take(ctx context.Context, key read.Key) (int, error) {
	o.mu.Lock()
	o.looks[key]++
	o.now++
	o.most = max(o.most, o.now)
	takes := o.takes
	o.mu.Unlock()
	defer func() {
		o.mu.Lock()
		o.now--
		o.mu.Unlock()
	}()
	if takes > 0 {
		select {
		case <-time.After(takes):
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.value, o.err
}

func (o *outside) set(value int, err error, takes time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.value, o.err, o.takes = value, err, takes
}

func (o *outside) wake(key read.Key) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.woken = append(o.woken, key.Name)
}

func (o *outside) wakes() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	woken := o.woken
	o.woken = nil
	return woken
}

func (o *outside) looked(key read.Key) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.looks[key]
}

// withSampler runs a test on a fake clock, with a sampler that polls.
func withSampler(t *testing.T, budget int, test func(t *testing.T, s *Sampler[int], o *outside)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		o := &outside{looks: map[read.Key]int{}}
		s := &Sampler[int]{Take: o.take, Same: func(a, b int) bool { return a == b }, Wake: o.wake, Now: time.Now, Budget: budget}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- s.Start(ctx) }()
		test(t, s, o)
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

var (
	alice = read.Key{Name: "alice"}
	bob   = read.Key{Name: "bob"}
)

func TestSamplerWakesOnlyOnChange(t *testing.T) {
	withSampler(t, 0, func(t *testing.T, s *Sampler[int], o *outside) {
		s.Every(alice, time.Second)
		errDown := errors.New("down")
		for _, step := range []struct {
			what  string
			value int
			err   error
			wakes []string
			last  int
		}{
			{"the first look", 1, nil, []string{"alice"}, 1},
			{"the same", 1, nil, nil, 1},
			{"another", 2, nil, []string{"alice"}, 2},
			{"an error", 0, errDown, []string{"alice"}, 2},
			{"the same error", 0, errDown, nil, 2},
			{"back as it was", 2, nil, []string{"alice"}, 2},
			{"the same again", 2, nil, nil, 2},
		} {
			o.set(step.value, step.err, 0)
			elapse(3 * time.Second)
			if diff := cmp.Diff(step.wakes, o.wakes()); diff != "" {
				t.Errorf("%s: woke (-want +got):\n%s", step.what, diff)
			}
			if last := s.Last(alice); last.Value != step.last || !errors.Is(last.Err, step.err) {
				t.Errorf("%s: last is %+v", step.what, last)
			}
		}
	})
}

// What is said to have happened is looked at at once, and once, even if a look is under way that may have missed it.
func TestSamplerLooksSoon(t *testing.T) {
	withSampler(t, 0, func(t *testing.T, s *Sampler[int], o *outside) {
		s.Every(alice, time.Minute)
		s.Soon(bob) // whom nobody is asked to look at
		elapse(time.Second)
		if a, b := o.looked(alice), o.looked(bob); a+b > 0 {
			t.Errorf("looked %d and %d times before it is due", a, b)
		}
		o.set(1, nil, 500*time.Millisecond)
		s.Soon(alice)
		elapse(2 * tick)
		if got := o.looked(alice); got != 1 {
			t.Errorf("looked %d times", got)
		}
		s.Soon(alice)
		elapse(2 * time.Second)
		if got := o.looked(alice); got != 2 {
			t.Errorf("looked %d times, and something happened during the first", got)
		}
	})
}

// What is seen is told, but of nothing that was forgotten meanwhile.
func TestSamplerTellsWhatIsSeen(t *testing.T) {
	withSampler(t, 0, func(t *testing.T, s *Sampler[int], o *outside) {
		told := 0
		s.Seen = func(read.Key, int) { told++ }
		o.set(1, nil, 100*time.Millisecond)
		s.Fresh(t.Context(), alice, 0)
		if told != 1 {
			t.Errorf("told %d times", told)
		}
		elapse(time.Second)
		go s.Fresh(t.Context(), alice, 0)
		elapse(50 * time.Millisecond)
		s.Every(alice, 0)
		elapse(time.Second)
		o.set(1, errors.New("down"), 0)
		s.Fresh(t.Context(), alice, 0)
		if told != 1 {
			t.Errorf("told %d times", told)
		}
	})
}

func TestSamplerKeepsItsRates(t *testing.T) {
	withSampler(t, 0, func(t *testing.T, s *Sampler[int], o *outside) {
		s.Every(alice, time.Second)
		s.Every(bob, 10*time.Second)
		for range 30 { // a pass says it each time, which must not put the next look off
			elapse(500 * time.Millisecond)
			s.Every(alice, time.Second)
		}
		elapse(15 * time.Second)
		if a, b := o.looked(alice), o.looked(bob); a < 28 || a > 30 || b != 3 && b != 2 {
			t.Errorf("in 30 s looked %d times every second, %d times every ten", a, b)
		}
		s.Every(bob, 0)
		before := o.looked(bob)
		elapse(time.Minute)
		if o.looked(bob) != before || len(s.jobs) != 1 {
			t.Error("looks at what was forgotten")
		}
	})
}

func TestSamplerStaysWithinItsBudget(t *testing.T) {
	withSampler(t, 3, func(t *testing.T, s *Sampler[int], o *outside) {
		o.set(1, nil, 400*time.Millisecond)
		for i := range 20 {
			s.Every(read.Key{Name: fmt.Sprint(i)}, time.Second)
		}
		elapse(time.Minute)
		if o.most != 3 {
			t.Errorf("%d looks at a time", o.most)
		}
		for i := range 20 { // 6 a second for 20 objects
			if n := o.looked(read.Key{Name: fmt.Sprint(i)}); n < 15 {
				t.Errorf("object %d was looked at %d times in a minute", i, n)
			}
		}
	})
}

// What does not answer holds half of the places at most, so that others are looked at in time.
func TestSamplerKeepsPlacesForThoseThatAnswer(t *testing.T) {
	withSampler(t, 4, func(t *testing.T, s *Sampler[int], o *outside) {
		silent := func(key read.Key) bool { return key != alice }
		s.Take = func(ctx context.Context, key read.Key) (int, error) {
			if silent(key) {
				<-ctx.Done()
				return 0, ctx.Err()
			}
			return o.take(ctx, key)
		}
		for i := range 20 {
			s.Every(read.Key{Name: fmt.Sprint(i)}, time.Second)
		}
		elapse(20 * time.Second) // all of them are known to be slow by then
		s.Every(alice, time.Second)
		elapse(time.Minute)
		if n := o.looked(alice); n < 50 {
			t.Errorf("looked at %d times in a minute", n)
		}
	})
}

func TestSamplerDoesNotJoinASlowLook(t *testing.T) {
	withSampler(t, 8, func(t *testing.T, s *Sampler[int], o *outside) {
		o.set(1, nil, 2500*time.Millisecond)
		s.Every(alice, 100*time.Millisecond)
		elapse(time.Second)
		s.Every(alice, 0) // forgotten and wanted again, while the first look still lasts
		s.Every(alice, 100*time.Millisecond)
		elapse(time.Second)
		if o.most != 1 {
			t.Errorf("%d looks at one object at a time", o.most)
		}
	})
}

func TestSamplerEndsALookThatHangs(t *testing.T) {
	withSampler(t, 1, func(t *testing.T, s *Sampler[int], o *outside) {
		o.set(1, nil, time.Hour)
		s.Every(alice, time.Second)
		elapse(5 * time.Second)
		if last := s.Last(alice); !errors.Is(last.Err, context.DeadlineExceeded) {
			t.Errorf("last is %+v", last)
		}
	})
}

func TestSamplerForgetsDuringALook(t *testing.T) {
	withSampler(t, 0, func(t *testing.T, s *Sampler[int], o *outside) {
		o.set(1, nil, time.Second)
		s.Every(alice, time.Second)
		elapse(1500 * time.Millisecond) // under way
		s.Every(alice, 0)
		elapse(5 * time.Second)
		if last := s.Last(alice); !last.At.IsZero() || len(s.jobs) != 0 || o.wakes() != nil {
			t.Errorf("remembers %+v", last)
		}
	})
}

func TestFreshLooksOnlyIfItMust(t *testing.T) {
	withSampler(t, 0, func(t *testing.T, s *Sampler[int], o *outside) {
		fresh := func(age time.Duration) read.Sample[int] { return s.Fresh(t.Context(), alice, age) }
		o.set(1, nil, 0)
		if got := fresh(time.Second); got.Value != 1 || o.looked(alice) != 1 {
			t.Errorf("never looked before: %+v", got)
		}
		o.set(2, nil, 0)
		if got := fresh(time.Second); got.Value != 1 || o.looked(alice) != 1 {
			t.Errorf("fresh enough: %+v", got)
		}
		elapse(2 * time.Second)
		if got := fresh(time.Second); got.Value != 2 {
			t.Errorf("too old: %+v", got)
		}
		o.set(0, errors.New("down"), 0)
		elapse(2 * time.Second)
		if got := fresh(time.Second); got.Err == nil || got.Value != 2 {
			t.Errorf("an error has the value before: %+v", got)
		}
		if age, taken := s.Last(alice).Age(time.Now()); age != 2*time.Second || !taken {
			t.Errorf("the value before is %s old", age)
		}
		if o.wakes() != nil {
			t.Error("woke who was just looking")
		}
	})
}
