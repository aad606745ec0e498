package telemetrytest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/statecraft-dev/statecraft/internal/classruntime/load"
	"github.com/statecraft-dev/statecraft/internal/classruntime/telemetry"
	"github.com/statecraft-dev/statecraft/internal/classruntime/telemetry/fake"
)

// Run runs every script in dir, each on a stage of its own.
//
//	serve shop/cart/add add-0 rps=10 latency=40ms errors=10 histogram=x label=(route,/a) ports=2 hangs stamped stuck
//	                            a pod of a function gets requests, of which a percentage fails; it may not answer scrapes, or
//	                            say of when its samples are, and repeat them
//	restart add-0               it counts from 0
//	remove add-0                it is scraped no more
//	source frozen               or down, fails, answers, and forgets, which it does by a restart
//	contract shop/cart/add      from now on the function has the contract in the input
//	percentile shop/cart/add 50
//	elapse 5s
//	await shop/cart/add what    until that is answered; see below
//	never shop/cart/add what for=5s
//
// What is awaited are words: unknown, silent, measured, invalid, unavailable; and figures, which must be right to a tenth: rps, peak,
// errors (in percent), latency, concurrency, pods, coverage and least (both in percent), varies. above=(coverage,80) and below=(coverage,80)
// compare; older=5s and younger=5s compare the age of the samples.
func Run(t *testing.T, dir string, start func(t *testing.T) Stage) {
	datadriven.Walk(t, dir, func(t *testing.T, path string) {
		s := &script{Stage: start(t), subjects: map[load.Key]telemetry.Subject{}}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			words, named := split(d)
			if err := s.command(t.Context(), d.Cmd, words, named, d.Input); err != nil {
				t.Logf("%s: %s %v: %v; %s", d.Pos, d.Cmd, words, err, s.last)
				return "error: " + strings.SplitN(err.Error(), ":", 2)[0] + "\n"
			}
			return ""
		})
	})
}

func split(d *datadriven.TestData) (words []string, named map[string][]string) {
	named = map[string][]string{}
	for _, a := range d.CmdArgs {
		if len(a.Vals) == 0 {
			words = append(words, a.Key)
		} else {
			named[a.Key] = append(named[a.Key], a.Vals...)
		}
	}
	return words, named
}

type script struct {
	Stage
	subjects map[load.Key]telemetry.Subject
	last     string // what was answered last, for people
}

var (
	errUnknown = errors.New("there is no such command")
	errStill   = errors.New("it does not come to that")
	errAfter   = errors.New("it came to that")
)

//nolint:cyclop // a table of commands
func (s *script) command(ctx context.Context, name string, words []string, named map[string][]string, input string) error {
	if len(words) == 0 {
		return errUnknown
	}
	switch name {
	case "serve":
		return s.serve(words, named)
	case "restart":
		return s.Restart(words[0])
	case "remove":
		return s.Remove(words[0])
	case "source":
		if words[0] == "forgets" {
			return s.Forget()
		}
		return s.Set(fake.State(words[0]))
	case "elapse":
		d, err := time.ParseDuration(words[0])
		return errors.Join(err, s.Elapse(ctx, d))
	}
	subject, err := s.subject(words[0])
	if err != nil {
		return err
	}
	switch name {
	case "contract":
		subject.Contract = load.Contract{}
		err = json.Unmarshal([]byte(input), &subject.Contract)
	case "percentile":
		var n int
		n, err = strconv.Atoi(words[1])
		subject.Percentile = int32(n) //nolint:gosec // a script's
	case "await":
		return s.await(ctx, subject.Key, words[1:], named)
	case "never":
		return s.never(ctx, subject.Key, words[1:], named)
	default:
		return errUnknown
	}
	s.subjects[subject.Key] = subject
	return err
}

// subject is a function; one that is named for the first time is asked about from then on.
func (s *script) subject(name string) (telemetry.Subject, error) {
	parts := strings.Split(name, "/")
	if len(parts) != 3 {
		return telemetry.Subject{}, fmt.Errorf("%w: %s names no function", errUnknown, name)
	}
	key := load.Key{Namespace: parts[0], Class: parts[1], Function: parts[2]}
	if _, is := s.subjects[key]; !is {
		s.subjects[key] = telemetry.Subject{Key: key, Contract: load.OTelHTTP(), Percentile: 95}
	}
	return s.subjects[key], nil
}

func (s *script) serve(words []string, named map[string][]string) error {
	subject, err := s.subject(words[0])
	if err != nil || len(words) < 2 {
		return errors.Join(err, errUnknown)
	}
	p := fake.Pod{Key: subject.Key, Hangs: slices.Contains(words, "hangs"),
		Stamped: slices.Contains(words, "stamped"), Stuck: slices.Contains(words, "stuck")}
	for name, values := range named {
		switch name {
		case "rps":
			p.RPS, err = strconv.ParseFloat(values[0], 64)
		case "errors":
			p.Errors, err = strconv.ParseFloat(values[0], 64)
			p.Errors /= 100
		case "ports":
			p.Ports, err = strconv.Atoi(values[0])
		case "latency":
			p.Latency, err = time.ParseDuration(values[0])
		case "histogram":
			p.Histogram = values[0]
		case "label":
			p.Labels = map[string]string{values[0]: values[1]}
		default:
			err = errUnknown
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return s.Serve(words[1], p)
}
