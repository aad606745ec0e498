package observe

import (
	"errors"
	"fmt"
	"testing"

	runtimev1 "github.com/statecraft-dev/statecraft/api/runtime/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/classruntime/class"
	"github.com/statecraft-dev/statecraft/internal/classruntime/load"
	"github.com/statecraft-dev/statecraft/internal/classruntime/spec"
	"github.com/statecraft-dev/statecraft/internal/classruntime/telemetry"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// one is the only source, and what it said last.
type one struct{ sample read.Sample[Measurements] }

func (o one) Has(source string) bool                      { return source == "main" }
func (o one) Last(key read.Key) read.Sample[Measurements] { return o.sample }

// TestWhatASourceSaidLast: only the answer to this very question counts, and an error is told apart from none.
func TestWhatASourceSaidLast(t *testing.T) {
	c := &runtimev1.ClassRuntime{}
	c.Namespace, c.Name = "shop", "cart"
	c.Spec.Functions = []runtimev1.Function{{Key: "add", Image: "add:1"}}
	f := spec.Functions(c)[0]
	subject := SubjectOf(c, f)
	said := func(change func(*Measurement)) read.Sample[Measurements] {
		m := Measurement{Subject: subject, Answer: telemetry.Answer{Facts: load.Facts{Traffic: load.Measured, RPS: 7}}}
		change(&m)
		return read.Sample[Measurements]{Value: Measurements{m.Subject.Key: m}}
	}
	good := said(func(*Measurement) {})
	failed := good
	failed.Err = telemetry.ErrUnavailable
	for what, tc := range map[string]struct {
		source string
		sample read.Sample[Measurements]
		want   fsm.Reason
	}{
		"the answer":                       {"main", good, ""},
		"the class names none":             {"", good, class.ReasonSourceUnknown},
		"there is no such source":          {"other", good, class.ReasonSourceUnknown},
		"nobody has looked yet":            {"main", read.Sample[Measurements]{}, class.ReasonNotMeasured},
		"the last look failed":             {"main", failed, class.ReasonSourceUnavailable},
		"this question failed":             {"main", said(func(m *Measurement) { m.Err = telemetry.ErrUnavailable }), class.ReasonSourceUnavailable},
		"the contract is invalid":          {"main", said(func(m *Measurement) { m.Err = fmt.Errorf("%w: it is odd", telemetry.ErrQueryInvalid) }), class.ReasonQueryInvalid},
		"an answer to another percentile":  {"main", said(func(m *Measurement) { m.Subject.Percentile = 50 }), class.ReasonNotMeasured},
		"an answer to another contract":    {"main", said(func(m *Measurement) { m.Subject.Contract.Histogram = "other" }), class.ReasonNotMeasured},
		"an answer about another function": {"main", said(func(m *Measurement) { m.Subject.Key.Function = "total" }), class.ReasonNotMeasured},
		"an error of another contract":     {"main", said(func(m *Measurement) { m.Subject.Percentile, m.Err = 50, errors.ErrUnsupported }), class.ReasonNotMeasured},
	} {
		facts, problem, words := Class{Sources: one{tc.sample}}.ask(tc.source, subject)
		if problem != tc.want || (words == "") != (tc.want == "") || (facts.RPS == 7) != (tc.want == "") {
			t.Errorf("%s: %s %q %+v", what, problem, words, facts)
		}
	}
	if (Class{Sources: one{good}}).measured(c, f) != nil {
		t.Error("measures a class that does not ask for it")
	}
}
