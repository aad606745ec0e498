package script

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

var errDark = errors.New("it is dark")

// A lamp of one script is not that of another.
func TestScriptsAreRunEachOnItsOwn(t *testing.T) {
	lamps := 0
	Run(t, "testdata", func(*testing.T) Perform {
		lamps++
		on := false
		return func(_ context.Context, l Line) (string, error) {
			switch l.Name {
			case "press":
				on = !on
				return "", nil
			case "show":
				return Lines([]string{fmt.Sprint("on: ", on), "word: " + l.Word(0) + l.Word(7), "color: " + l.Value("color") + l.Value("size"), "input: " + l.Input}), nil
			case "elsewhere":
				return l.Expected, nil
			case "read":
				return "", fmt.Errorf("page 7: %w", errDark)
			}
			return "", ErrUnknown
		}
	}, errDark)
	if lamps != 2 {
		t.Errorf("%d lamps for 2 scripts", lamps)
	}
}

func TestPollingEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, looks := time.Now(), 0
		if err := Poll(time.Second)(t.Context(), func() bool { looks++; return looks == 3 }); err != nil || time.Since(began) != 2*pollEvery {
			t.Errorf("%s, %v", time.Since(began), err)
		}
		began = time.Now()
		if err := Poll(time.Second)(t.Context(), func() bool { return false }); err != nil || time.Since(began) != time.Second {
			t.Errorf("%s, %v", time.Since(began), err)
		}
	})
}
