//go:build full

package valkey

import (
	"fmt"
	"strings"
	"testing"

	"github.com/statecraft-dev/statecraft/test/bed/images"
	"github.com/statecraft-dev/statecraft/test/harness"
)

// TestTour does what the tour tells a new user to do.
func TestTour(t *testing.T) {
	s := newStage(t)
	s.Manager.Start()
	s.must(s.Bed.LoadImages(t.Context(), images.Valkey91))
	harness.Tour(t, s.Bed, area)
}

// TestTourOfTheREADME types the commands of the README's quick start, but for those that start and end the bed.
func TestTourOfTheREADME(t *testing.T) {
	s := newStage(t)
	s.Manager.Start()
	me := harness.NewPerson(t, s.Bed.Environment())
	t.Cleanup(func() { me.Must("kubectl delete vkc orders") })
	for _, statement := range harness.Statements(harness.Section(t, "README.md", "### A Valkey cluster")) {
		command, watches := strings.CutSuffix(strings.TrimSpace(strings.Split(statement, "  #")[0]), " --watch")
		switch {
		case strings.HasPrefix(command, "make "), strings.HasPrefix(command, "alias "):
		case watches:
			harness.Eventually(t, runningWithin, poll, func() error {
				out, err := me.Type(command)
				if words := strings.Fields(out); err == nil && !strings.Contains(strings.Join(words, " "), "orders True Running 6/6 16384/16384") {
					err = fmt.Errorf("not yet:\n%s", out)
				}
				return err
			})
		default:
			me.Must(statement)
		}
	}
}
