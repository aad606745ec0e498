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
		"a detached volume stays":                           {Terms{day, day}, End{Ready: metav1.ConditionTrue, At: at(), Detach: true}, 0},
		"a detached volume stays, however badly it went":    {Terms{day, day}, End{Ready: metav1.ConditionFalse, At: at(), Detach: true}, 0},
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
