package plan

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

type step struct{ what, seen string }

func (s step) String() string   { return s.what }
func (s step) Evidence() string { return s.seen }

// The last steps that could not be undone are kept, each once, and none that was not taken.
func TestRecord(t *testing.T) {
	now := time.Unix(1000, 500)
	was := []valkeyv1.Proof{{Step: "first", Seen: "all"}}
	got := Record(was, now, []fsm.Outcome{
		{Effect: step{"first", "all"}}, {Effect: step{"needs none", ""}}, {Effect: step{"failed", "all"}, Err: errors.New("no")},
		{Effect: step{strings.Repeat("x", 200), strings.Repeat("y", 600)}},
	})
	if len(was) != 1 || len(got) != 2 || len(got[1].Step) != longestStep || len(got[1].Seen) != longestSeen || got[1].At.Unix() != 1000 {
		t.Errorf("%+v", got)
	}
	for i := range 20 {
		got = Record(got, now, []fsm.Outcome{{Effect: step{fmt.Sprint(i), "all"}}})
	}
	if len(got) != valkeyv1.MostProofs || got[len(got)-1].Step != "19" {
		t.Errorf("%+v", got)
	}
}
