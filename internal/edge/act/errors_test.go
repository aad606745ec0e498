package act

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/statecraft-dev/statecraft/internal/edge/fleet"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

func TestErrorsOfFlightControlAreSorted(t *testing.T) {
	for what, c := range map[string]struct {
		err    error
		class  fsm.ErrorClass
		reason fsm.Reason
		says   string
	}{
		"a fleet owns it":              {fmt.Errorf("edit: %w", &fleet.Owned{Owner: "Fleet/pumps"}), fsm.Changed, "", "Fleet/pumps"},
		"it was deleted":               {fleet.ErrGone, fsm.Changed, "", "has no device pump"},
		"it was deleted in between":    {errors.Join(fleet.ErrGhost, fleet.ErrDenied), fsm.Changed, "", "has no device pump"},
		"it was edited":                {fleet.ErrStale, fsm.Changed, "", "changed by others"},
		"bad credentials":              {fleet.ErrDenied, fsm.Refused, ReasonDenied, "renew them"},
		"an invalid spec":              {&fleet.Refused{Code: 400, Message: "too many ports"}, fsm.Refused, ReasonRefused, "too many ports"},
		"too many requests":            {&fleet.Limited{After: 7 * time.Second}, fsm.Transient, "", "no more requests"},
		"no answer":                    {fmt.Errorf("edit: %w", fleet.ErrUnreachable), fsm.Transient, "", "does not answer"},
		"what the edit itself decides": {&fsm.Error{Class: fsm.Changed, Err: errors.New("another pod")}, fsm.Changed, "", ""},
	} {
		err := sorted("pump", c.err)
		var sorted *fsm.Error
		if !errors.As(err, &sorted) || sorted.Class != c.class || sorted.Reason != c.reason || !strings.Contains(sorted.Say, c.says) || !errors.Is(err, c.err) {
			t.Errorf("%s: %v", what, err)
		}
		if sorted != nil && strings.Contains(sorted.Say, "7") {
			t.Errorf("%s: the words change from try to try: %s", what, sorted.Say)
		}
	}
	if err := sorted("pump", nil); err != nil {
		t.Error(err)
	}
}
