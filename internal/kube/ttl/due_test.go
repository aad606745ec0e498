package ttl

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var ended = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func TestDue(t *testing.T) {
	at := func() *metav1.Time { return &metav1.Time{Time: ended} }
	for name, tc := range map[string]struct {
		terms Terms
		end   End
		want  time.Duration // after the end; 0 is never
	}{
		"a failed one goes after its term":                  {Terms{Failed: day}, End{Ready: metav1.ConditionFalse, At: at()}, day},
		"a success goes after its own":                      {Terms{Failed: day, Succeeded: time.Hour}, End{Ready: metav1.ConditionTrue, At: at()}, time.Hour},
		"without a term a success stays":                    {Terms{Failed: day}, End{Ready: metav1.ConditionTrue, At: at()}, 0},
		"without a term a failure stays":                    {Terms{Succeeded: day}, End{Ready: metav1.ConditionFalse, At: at()}, 0},
		"one that has not ended stays":                      {Terms{day, day}, End{At: at()}, 0},
		"one whose world cannot be seen has not ended":      {Terms{day, day}, End{Ready: metav1.ConditionUnknown, At: at()}, 0},
		"one that does not say when it ended stays":         {Terms{day, day}, End{Ready: metav1.ConditionFalse}, 0},
		"nor does one go that says nothing sensible":        {Terms{day, day}, End{Ready: metav1.ConditionFalse, At: &metav1.Time{}}, 0},
		"one that is spared stays":                          {Terms{day, day}, End{Ready: metav1.ConditionTrue, At: at(), Spared: true}, 0},
		"one that is spared stays, however badly it went":   {Terms{day, day}, End{Ready: metav1.ConditionFalse, At: at(), Spared: true}, 0},
		"a term below zero is none":                         {Terms{Failed: -day}, End{Ready: metav1.ConditionFalse, At: at()}, 0},
		"what the operator did not choose is not made up":   {Terms{}, End{Ready: metav1.ConditionFalse, At: at()}, 0},
		"a term that is shorter than a second is still one": {Terms{Failed: time.Millisecond}, End{Ready: metav1.ConditionFalse, At: at()}, time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			due, ever := tc.terms.Due(tc.end)
			if ever != (tc.want != 0) || ever && !due.Equal(ended.Add(tc.want)) {
				t.Errorf("goes %v, at %v; want %v after its end", ever, due, tc.want)
			}
		})
	}
}

const day = 24 * time.Hour

func TestEvery(t *testing.T) {
	for name, tc := range map[string]struct {
		terms Terms
		want  time.Duration
	}{
		"long terms are not looked at all the time": {Terms{Failed: day}, 5 * time.Minute},
		"short ones are":                  {Terms{Failed: day, Succeeded: 10 * time.Minute}, time.Minute},
		"no term makes it a loop":         {Terms{Failed: time.Millisecond}, time.Second},
		"a term of zero is not the least": {Terms{Failed: time.Hour}, 5 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			if got := tc.terms.Every(); got != tc.want {
				t.Errorf("every %s, want %s", got, tc.want)
			}
		})
	}
}

func TestEveryOfSeveralKinds(t *testing.T) {
	for name, tc := range map[string]struct {
		kinds []Kind
		want  time.Duration
		ever  bool
	}{
		"none":              {nil, 5 * time.Minute, false},
		"none with a term":  {[]Kind{{}, {}}, 5 * time.Minute, false},
		"the shortest term": {[]Kind{{Terms: Terms{Failed: day}}, {Terms: Terms{Succeeded: time.Minute}}, {}}, 6 * time.Second, true},
	} {
		if every, ever := (Scanner{Kinds: tc.kinds}).every(); every != tc.want || ever != tc.ever {
			t.Errorf("%s: every %s, ever %t", name, every, ever)
		}
	}
}

func TestNewEnd(t *testing.T) {
	at := &metav1.Time{Time: ended}
	if e := NewEnd(nil, at); e.Ready != "" || e.At != at {
		t.Errorf("%+v", e)
	}
	conditions := []metav1.Condition{{Type: "Stalled", Status: metav1.ConditionTrue}, {Type: "Ready", Status: metav1.ConditionFalse}}
	if e := NewEnd(conditions, nil); e.Ready != metav1.ConditionFalse || e.At != nil || e.Spared {
		t.Errorf("%+v", e)
	}
}
