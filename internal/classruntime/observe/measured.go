package observe

import (
	"errors"
	"fmt"
	"time"

	runtimev1 "github.com/statecraft-dev/statecraft/api/runtime/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/classruntime/class"
	"github.com/statecraft-dev/statecraft/internal/classruntime/load"
	"github.com/statecraft-dev/statecraft/internal/classruntime/spec"
	"github.com/statecraft-dev/statecraft/internal/classruntime/telemetry"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// Measurements are what one look at a source says of all functions that it was asked about.
type Measurements map[load.Key]Measurement

// Measurement is the answer to one question.
type Measurement struct {
	Subject telemetry.Subject
	telemetry.Answer
	At time.Time // when the source was asked
}

// Sources are those that the installation has, and what they said last. Key is the name of a source.
type Sources interface {
	Has(source string) bool
	Last(key read.Key) read.Sample[Measurements]
}

// None are the sources of an installation that has none.
type None struct{}

// Has implements Sources.
func (None) Has(string) bool { return false }

// Last implements Sources.
func (None) Last(read.Key) read.Sample[Measurements] { return read.Sample[Measurements]{} }

// SubjectOf is what a source is asked about a function.
func SubjectOf(c *runtimev1.ClassRuntime, f spec.Function) telemetry.Subject {
	return telemetry.Subject{
		Key:      load.Key{Namespace: c.Namespace, Class: c.Name, Function: f.Key},
		Contract: load.OTelHTTP(), Percentile: f.Needs.Percentile,
	}
}

// Same says that two questions are the same.
func Same(a, b telemetry.Subject) bool {
	return a.Key == b.Key && a.Percentile == b.Percentile && a.Contract.Same(b.Contract)
}

// measured is what is required of a function, and what the last look at its source says of it.
func (o Class) measured(c *runtimev1.ClassRuntime, f spec.Function) *class.Measured {
	if spec.ModeOf(c) == runtimev1.ModeOff {
		return nil
	}
	m := &class.Measured{Requirements: f.Needs.Requirements, PerReplica: f.Needs.PerReplica}
	if f.Needs.Invalid != "" {
		m.Problem, m.Words = class.ReasonRequirementInvalid, f.Needs.Invalid
		return m
	}
	m.Facts, m.Problem, m.Words = o.ask(spec.SourceOf(c), SubjectOf(c, f))
	return m
}

// ask is what a source said last; an answer to another question is none.
func (o Class) ask(source string, subject telemetry.Subject) (facts load.Facts, problem fsm.Reason, words string) {
	if source == "" {
		return facts, class.ReasonSourceUnknown, "The class names no source of telemetry: set spec.telemetry."
	}
	if !o.Sources.Has(source) {
		return facts, class.ReasonSourceUnknown, fmt.Sprintf("The installation has no source of telemetry that is called %s.", source)
	}
	last := o.Sources.Last(read.Key{Name: source})
	is, has := last.Value[subject.Key]
	switch {
	case last.Err != nil:
		return facts, class.ReasonSourceUnavailable, fmt.Sprintf("Source %s does not answer, so nothing newer is known.", source)
	case !has || !Same(is.Subject, subject):
		return facts, class.ReasonNotMeasured, fmt.Sprintf("Waiting for the next look at source %s.", source)
	case errors.Is(is.Err, telemetry.ErrQueryInvalid):
		return facts, class.ReasonQueryInvalid, fmt.Sprintf("Source %s refuses the question: %s.", source, steady(is.Err.Error()))
	case is.Err != nil:
		return facts, class.ReasonSourceUnavailable, fmt.Sprintf("Source %s does not answer this question, so nothing newer is known.", source)
	}
	return is.Facts, "", ""
}
