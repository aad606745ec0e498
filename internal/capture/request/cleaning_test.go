package request

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

type remove struct{}

func (remove) String() string { return "remove" }

func TestACleanUpIsTriedBeforeItEnds(t *testing.T) {
	since := time.Unix(1_700_000_000, 0)
	var (
		end  = fsm.Fire("GivenUp", "Forbidden")
		act  = fsm.Do("Removing", remove{})
		wait = fsm.Wait("Removing")
		done = fsm.Fire("Cleaned", "Forbidden")
	)
	for what, c := range map[string]struct {
		decided  fsm.Decision
		after    time.Duration
		failures int32
		ends     bool
	}{
		"waits, in time":                 {wait, Cleaning - time.Second, 0, false},
		"waits for too long":             {wait, Cleaning, 0, true},
		"has just woken from long sleep": {act, 24 * time.Hour, 0, false},
		"failed, in time":                {act, Cleaning - time.Second, 9, false},
		"failed for too long":            {act, Cleaning, 1, true},
		"is done after all":              {done, 24 * time.Hour, 1, false},
	} {
		place := meta.Place{Since: metav1.NewTime(since), Failures: c.failures}
		got := CleanInTime(c.decided, place, since.Add(c.after), end)
		if ended := got.On == end.On; ended != c.ends {
			t.Errorf("a clean-up that %s: ended is %v", what, ended)
		}
	}
}
