package telemetrytest

import (
	"context"
	"testing"
	"time"

	"github.com/statecraft-dev/statecraft/internal/classruntime/telemetry"
	"github.com/statecraft-dev/statecraft/internal/classruntime/telemetry/fake"
)

// Every source of a script scrapes once a second, and measures over ten.
const (
	Interval = time.Second
	Window   = 10 * time.Second
)

// Stage is a source that has scraped nothing yet, and what a script does around it.
type Stage struct {
	telemetry.Source
	// Serve starts a pod or changes what happens to it; Restart lets it count from 0; Remove ends it.
	Serve   func(pod string, p fake.Pod) error
	Restart func(pod string) error
	Remove  func(pod string) error
	// Set changes what the source does; Forget makes it lose its samples.
	Set    func(fake.State) error
	Forget func() error
	// Now is the clock of the source's client.
	Now func() time.Time
	// Until lets time pass until done says so, or long enough. Elapse lets it pass.
	Until  func(ctx context.Context, done func() bool) error
	Elapse func(ctx context.Context, d time.Duration) error
}

const (
	fakeStep     = 100 * time.Millisecond
	fakePatience = time.Minute
)

// Fake makes a stage with the fake.
func Fake(*testing.T) Stage {
	now := time.Unix(1e9, 0)
	s := fake.New(func() time.Time { return now }, Window, Interval)
	done := func(do func()) error { do(); return nil }
	return Stage{
		Source:  s,
		Now:     func() time.Time { return now },
		Serve:   func(pod string, p fake.Pod) error { return done(func() { s.Serve(pod, p) }) },
		Restart: func(pod string) error { return done(func() { s.Restart(pod) }) },
		Remove:  func(pod string) error { return done(func() { s.Remove(pod) }) },
		Set:     func(state fake.State) error { return done(func() { s.Set(state) }) },
		Forget:  func() error { return done(s.Forget) },
		Until: func(_ context.Context, is func() bool) error {
			for waited := time.Duration(0); !is() && waited < fakePatience; waited += fakeStep {
				now = now.Add(fakeStep)
			}
			return nil
		},
		Elapse: func(_ context.Context, d time.Duration) error { return done(func() { now = now.Add(d) }) },
	}
}
