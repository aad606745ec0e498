package classruntime

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	runtimev1 "github.com/statecraft-dev/statecraft/api/runtime/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/classruntime/load"
	"github.com/statecraft-dev/statecraft/internal/classruntime/observe"
	"github.com/statecraft-dev/statecraft/internal/classruntime/spec"
	"github.com/statecraft-dev/statecraft/internal/classruntime/telemetry"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// Source is a source of telemetry that the installation has.
type Source struct {
	telemetry.Source
	Interval time.Duration // between two samples of it
}

// every is how often a source is looked at: there are a few new samples by then.
func (s Source) every() time.Duration { return 2 * s.Interval }

// Looks are those at sources. One look asks about all functions of all classes that name the source.
type Looks struct {
	kube.Sampler[observe.Measurements]
	sources map[string]Source
	wake    func(read.Key)

	following sync.Mutex // is taken before that of the sampler, and mu after it

	mu     sync.Mutex
	wanted map[string]map[read.Key][]telemetry.Subject // by source and class
	seen   map[string]observe.Measurements             // by source
}

// NewLooks builds what looks at sources; wake is told of classes of which something else is known.
func NewLooks(e kube.Env, sources map[string]Source, wake func(read.Key)) *Looks {
	l := &Looks{sources: sources, wake: wake, wanted: map[string]map[read.Key][]telemetry.Subject{}, seen: map[string]observe.Measurements{}}
	for name := range sources {
		l.wanted[name] = map[read.Key][]telemetry.Subject{}
	}
	l.Take, l.Seen, l.Wake, l.Now = l.take, l.tell, l.tellAll, e.Now
	l.Same = func(observe.Measurements, observe.Measurements) bool { return true } // tell wakes class by class
	return l
}

// Has implements observe.Sources.
func (l *Looks) Has(source string) bool {
	_, has := l.sources[source]
	return has
}

// Follow has a class measured as its spec asks for, or no more if there is none.
func (l *Looks) Follow(key read.Key, c *runtimev1.ClassRuntime, found bool) {
	source := ""
	if found && c.DeletionTimestamp == nil {
		source = spec.SourceOf(c)
	}
	l.following.Lock() // or the pace that is set last might be that of before
	defer l.following.Unlock()
	l.mu.Lock()
	every := map[string]time.Duration{}
	for name, classes := range l.wanted {
		delete(classes, key)
		if name == source {
			classes[key] = subjects(c)
		}
		if len(classes) > 0 {
			every[name] = l.sources[name].every()
		}
	}
	l.mu.Unlock()
	for name := range l.sources {
		l.Every(read.Key{Name: name}, every[name])
	}
}

func subjects(c *runtimev1.ClassRuntime) (all []telemetry.Subject) {
	for _, f := range spec.Functions(c) {
		all = append(all, observe.SubjectOf(c, f))
	}
	return all
}

// take looks at a source.
func (l *Looks) take(ctx context.Context, source read.Key) (observe.Measurements, error) {
	l.mu.Lock()
	all := slices.Concat(slices.Collect(maps.Values(l.wanted[source.Name]))...)
	l.mu.Unlock()
	slices.SortFunc(all, func(a, b telemetry.Subject) int { return strings.Compare(a.Key.String(), b.Key.String()) })
	began := l.Now()
	answers, err := l.sources[source.Name].Look(ctx, all)
	if err != nil {
		return nil, err
	}
	seen := make(observe.Measurements, len(all))
	for _, s := range all {
		seen[s.Key] = observe.Measurement{Subject: s, Answer: answers[s.Key], At: began}
	}
	return seen, nil
}

// tell wakes the classes of which a look says something else than the one before.
func (l *Looks) tell(source read.Key, is observe.Measurements) {
	l.mu.Lock()
	defer l.mu.Unlock()
	was := l.seen[source.Name]
	l.seen[source.Name] = is
	woken := map[read.Key]bool{}
	for key, m := range is {
		class := read.Key{Namespace: key.Namespace, Name: key.Class}
		if before, had := was[key]; !woken[class] && (!had || !alike(before, m)) {
			woken[class] = true
			l.wake(class)
		}
	}
}

// tellAll wakes all classes of a source, which answers again, or does not any more.
func (l *Looks) tellAll(source read.Key) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for class := range l.wanted[source.Name] {
		l.wake(class)
	}
}

// alike says that two measurements lead to the same decision.
func alike(a, b observe.Measurement) bool {
	if a.Err != nil || b.Err != nil {
		return a.Err != nil && b.Err != nil && a.Err.Error() == b.Err.Error()
	}
	return observe.Same(a.Subject, b.Subject) && load.Alike(a.Facts, b.Facts) && fresh(a) == fresh(b)
}

// fresh says that samples were new enough to go by when the source was asked.
func fresh(m observe.Measurement) bool {
	return m.At.Sub(m.Facts.SampledAt) <= load.FreshWithin*m.Facts.Interval
}
