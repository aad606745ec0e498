package proof

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

type step struct{ what, seen string }

func (s step) String() string   { return s.what }
func (s step) Evidence() string { return s.seen }

// The last steps that could not be undone are kept, each once, and none that was not taken.
func TestRecord(t *testing.T) {
	now := time.Unix(1000, 500)
	was := []meta.Proof{{Step: "first", Seen: "all"}}
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
	if len(got) != meta.MostProofs || got[len(got)-1].Step != "19" {
		t.Errorf("%+v", got)
	}
}

type boundStep struct {
	step
	of []Subject
}

func (b boundStep) Subjects() []Subject { return b.of }

// A proof of the successor is another one, although it reads like the first.
func TestRecordNamesTheVeryObjects(t *testing.T) {
	now := time.Unix(1000, 0)
	deletes := func(uid types.UID) fsm.Outcome {
		return fsm.Outcome{Effect: boundStep{step{"delete web-0-1", "it never ran"}, []Subject{{Kind: "Pod", Name: "web-0-1", UID: uid}}}}
	}
	got := Record(nil, now, []fsm.Outcome{deletes("p1"), deletes("p1"), deletes("p2")})
	if len(got) != 2 || got[0].Of[0].UID != "p1" || got[1].Of[0] != (meta.ProofSubject{Kind: "Pod", Name: "web-0-1", UID: "p2"}) {
		t.Errorf("%+v", got)
	}
	many := boundStep{step: step{"remove", "all"}, of: make([]Subject, 9)}
	if got := Record(nil, now, []fsm.Outcome{{Effect: many}}); len(got[0].Of) != mostSubjects {
		t.Errorf("%d subjects", len(got[0].Of))
	}
}
