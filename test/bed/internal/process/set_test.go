package process

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"
)

func TestServersOfASetStopAndStartByName(t *testing.T) {
	s := NewSet(t.TempDir())
	for _, name := range []string{"one", "other"} {
		server, err := s.Add(Command{Name: name, Path: "/bin/sleep", Args: []string{"60"}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = server.Stop(context.Background()) })
	}
	runs := func() []string {
		ids := map[string]int{}
		s.PIDs(ids)
		return slices.Sorted(maps.Keys(ids))
	}
	if got := runs(); !slices.Equal(got, []string{"one", "other"}) {
		t.Errorf("%v run", got)
	}
	if err := s.Stop(t.Context(), "one"); err != nil || !slices.Equal(runs(), []string{"other"}) {
		t.Errorf("%v run, %v", runs(), err)
	}
	if err := s.Start("one"); err != nil || len(runs()) != 2 {
		t.Errorf("%v run, %v", runs(), err)
	}
	if err := errors.Join(s.Stop(t.Context(), "none"), s.Start("none")); !errors.Is(err, ErrUnknown) {
		t.Errorf("one that is not there: %v", err)
	}
}
