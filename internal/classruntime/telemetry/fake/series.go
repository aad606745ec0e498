package fake

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"time"

	"github.com/statecraft-dev/statecraft/internal/classruntime/load"
)

const (
	lookback = 5 * time.Minute  // for how long the last sample of a series counts
	kept     = 20 * time.Minute // how long samples are
)

type point struct {
	at    time.Time
	value float64
}

// series are samples of one name and one set of labels.
type series struct {
	name    string
	labels  map[string]string
	points  []point
	stale   bool // its target said nothing of it in the last scrape
	stamped bool // its samples bear the time that the target gives them
}

// last is the newest sample, if it counts.
func (s *series) last(now time.Time) (point, bool) {
	if s.stale || len(s.points) == 0 || now.Sub(s.points[len(s.points)-1].at) >= lookback {
		return point{}, false
	}
	return s.points[len(s.points)-1], true
}

// over are the samples of a time that ends at.
func (s *series) over(at time.Time, window time.Duration) (list []point) {
	for _, p := range s.points {
		if p.at.After(at.Add(-window)) && !p.at.After(at) {
			list = append(list, p)
		}
	}
	return list
}

// rate is what Prometheus computes: the increase between the first and the last sample, past resets, taken to the ends of the time
// where these are not further away than the next sample should be, and divided by the whole time.
func rate(points []point, at time.Time, window time.Duration) (perSecond float64, is bool) {
	if len(points) < 2 {
		return 0, false
	}
	first, last := points[0], points[len(points)-1]
	increase := last.value - first.value
	for i, p := range points[1:] {
		if p.value < points[i].value {
			increase += points[i].value
		}
	}
	between := last.at.Sub(first.at).Seconds()
	mean := between / float64(len(points)-1)
	before, after := first.at.Sub(at.Add(-window)).Seconds(), at.Sub(last.at).Seconds()
	if before >= 1.1*mean {
		before = mean / 2
	}
	if increase > 0 && first.value >= 0 {
		before = min(before, between*first.value/increase) // a counter was not below 0
	}
	if after >= 1.1*mean {
		after = mean / 2
	}
	return increase * (between + before + after) / between / window.Seconds(), true
}

// selector chooses series.
type selector struct {
	name     string
	key      load.Key
	matchers []matcher
}

type matcher struct {
	label string
	holds func(value string) bool
}

// compile makes a selector, or says why it is none.
func compile(name string, key load.Key, lists ...[]load.Matcher) (selector, error) {
	s := selector{name: name, key: key}
	for _, m := range slices.Concat(lists...) {
		equal := func(v string) bool { return v == m.Value }
		if m.Op == load.Match || m.Op == load.NotMatch {
			expression, err := regexp.Compile("^(?s:" + m.Value + ")$")
			if err != nil {
				return s, fmt.Errorf("label %s: %w", m.Label, err)
			}
			equal = expression.MatchString
		}
		holds := equal
		if m.Op == load.NotEqual || m.Op == load.NotMatch {
			holds = func(v string) bool { return !equal(v) }
		}
		s.matchers = append(s.matchers, matcher{m.Label, holds})
	}
	return s, nil
}

func (s selector) chooses(one *series) bool {
	if one.name != s.name || keyOf(one.labels) != s.key {
		return false
	}
	for _, m := range s.matchers {
		if !m.holds(one.labels[m.label]) {
			return false
		}
	}
	return true
}

func keyOf(labels map[string]string) load.Key {
	return load.Key{Namespace: labels[load.NamespaceLabel], Class: labels[load.ClassLabel], Function: labels[load.FunctionLabel]}
}

// labelled are the labels of a pod's target, over those that it gives itself, as a scrape sets them.
func labelled(own map[string]string, pod string, key load.Key) map[string]string {
	out := map[string]string{}
	target := map[string]string{load.PodLabel: pod, load.NamespaceLabel: key.Namespace, load.ClassLabel: key.Class, load.FunctionLabel: key.Function}
	for name, value := range own {
		if _, taken := target[name]; taken {
			name = "exported_" + name
		}
		out[name] = value
	}
	maps.Copy(out, target)
	return out
}
