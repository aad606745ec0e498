package telemetrytest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/statecraft-dev/statecraft/internal/classruntime/load"
	"github.com/statecraft-dev/statecraft/internal/classruntime/telemetry"
)

// within is how long a look may take, as in the product.
const within = 3 * time.Second

// nearly is by how much a figure may differ: a real source is scraped when a busy machine comes to it.
const nearly = 0.1

// seen is what was answered about a function, and when.
type seen struct {
	telemetry.Answer
	at time.Time
}

func (s *script) look(ctx context.Context, key load.Key) seen {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	answers, err := s.Look(ctx, slices.Collect(maps.Values(s.subjects)))
	one := answers[key]
	if err != nil {
		one.Err = err
	}
	s.last = fmt.Sprintf("%+v", one)
	return seen{one, s.Now()}
}

func (s *script) await(ctx context.Context, key load.Key, words []string, named map[string][]string) error {
	var is bool
	var slip error
	err := s.Until(ctx, func() bool {
		is, slip = s.look(ctx, key).holds(words, named)
		return is || slip != nil
	})
	if err = errors.Join(err, slip); err == nil && !is {
		err = errStill
	}
	return err
}

// never looks for a while.
func (s *script) never(ctx context.Context, key load.Key, words []string, named map[string][]string) error {
	const looks = 20
	during, err := time.ParseDuration(named["for"][0])
	if err != nil {
		return err
	}
	named = maps.Clone(named)
	delete(named, "for")
	for range looks {
		if err := s.Elapse(ctx, during/looks); err != nil {
			return err
		}
		if is, err := s.look(ctx, key).holds(words, named); err != nil || is {
			return errors.Join(err, errAfter)
		}
	}
	return nil
}

// holds says that an answer is as described.
func (a seen) holds(words []string, named map[string][]string) (bool, error) {
	for _, word := range words {
		is, err := a.is(word)
		if err != nil || !is {
			return false, err
		}
	}
	for name, values := range named {
		is, err := a.has(name, values)
		if err != nil || !is {
			return false, err
		}
	}
	return true, nil
}

func (a seen) is(word string) (bool, error) {
	switch word {
	case "unknown", "silent", "measured":
		traffic := map[string]load.Traffic{"unknown": load.Unknown, "silent": load.Silent, "measured": load.Measured}[word]
		return a.Err == nil && a.Facts.Traffic == traffic, nil
	case "invalid":
		return errors.Is(a.Err, telemetry.ErrQueryInvalid), nil
	case "unavailable":
		return errors.Is(a.Err, telemetry.ErrUnavailable), nil
	}
	return false, fmt.Errorf("%w: %s", errUnknown, word)
}

func (a seen) has(name string, values []string) (bool, error) {
	switch name {
	case "above", "below":
		return a.compares(name == "above", values)
	case "older", "younger":
		limit, err := time.ParseDuration(values[0])
		return a.Err == nil && (a.at.Sub(a.Facts.SampledAt) > limit) == (name == "older"), err
	}
	is, err := a.figure(name)
	if err != nil {
		return false, err
	}
	want, err := number(values[0])
	return a.Err == nil && math.Abs(is-want) <= nearly*want, err
}

// compares goes by pairs of a figure and a limit.
func (a seen) compares(above bool, values []string) (bool, error) {
	for pair := range slices.Chunk(values, 2) {
		is, err := a.figure(pair[0])
		limit, err2 := strconv.ParseFloat(pair[len(pair)-1], 64)
		if err = errors.Join(err, err2); err != nil || a.Err != nil || (is > limit) != above {
			return false, err
		}
	}
	return true, nil
}

// number reads a number, or a time in seconds.
func number(text string) (float64, error) {
	if d, err := time.ParseDuration(text); err == nil && text != "0" {
		return d.Seconds(), nil
	}
	return strconv.ParseFloat(text, 64)
}

func (a seen) figure(name string) (float64, error) {
	f := a.Facts
	figures := map[string]float64{
		"rps": f.RPS, "peak": f.PeakRPS, "errors": 100 * f.ErrorRatio, "latency": f.Latency.Seconds(), "concurrency": f.Concurrency,
		"pods": float64(f.Pods), "coverage": 100 * f.Coverage, "least": 100 * f.LeastCoverage, "varies": 100 * f.Variation,
	}
	figure, is := figures[name]
	if !is {
		return 0, fmt.Errorf("%w: %s is no figure", errUnknown, name)
	}
	return figure, nil
}
