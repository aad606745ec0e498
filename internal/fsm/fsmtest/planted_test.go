package fsmtest_test

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// planted is a machine broken on purpose, tried by the check that must see it.
type planted struct {
	check func() error
	want  string // part of what the check says
}

// TestPlanted shows that every check can fail. With -v it prints what each says.
func TestPlanted(t *testing.T) {
	for name, fault := range faults() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := fault.check()
			if err == nil {
				t.Fatal("goes unseen")
			}
			if !strings.Contains(err.Error(), fault.want) {
				t.Errorf("seen as %v, want %q", err, fault.want)
			}
			t.Log(err)
		})
	}
}

// TestPlantedAreDocumented keeps the table of testing.md complete, and its commands right.
func TestPlantedAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../../docs/contributing/testing.md")
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	for _, m := range regexp.MustCompile("`go test ./internal/fsm/fsmtest -run TestPlanted/([a-zA-Z_]+) -v`").FindAllStringSubmatch(string(page), -1) {
		told = append(told, strings.ReplaceAll(m[1], "_", " "))
	}
	slices.Sort(told)
	if diff := cmp.Diff(slices.Sorted(maps.Keys(faults())), told); diff != "" {
		t.Error(diff)
	}
}

func faults() map[string]planted {
	all := map[string]planted{}
	for _, some := range []map[string]planted{executionFaults(), jobFaults(), upgradeFaults(), cacheFaults(), stateFaults()} {
		maps.Copy(all, some)
	}
	return all
}

// change is r with one phase replaced; r itself stays whole.
func change[I any](r fsm.Rules[I], phase fsm.Phase, plant func(*fsm.Rule[I])) fsm.Rules[I] {
	r.Phases = maps.Clone(r.Phases)
	rule := r.Phases[phase]
	rule.On = maps.Clone(rule.On)
	plant(&rule)
	r.Phases[phase] = rule
	return r
}
