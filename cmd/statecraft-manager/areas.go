package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/statecraft-dev/statecraft/internal/capture"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/valkey"
	"github.com/statecraft-dev/statecraft/internal/valkey/spec"
)

// areas are all there are, in the order in which they are set up.
func areas(f *flags) []kube.AreaSetup {
	return []kube.AreaSetup{capture.Area(f.capture), valkey.Area(spec.Builder{NodeImage: f.valkeyNode})}
}

// kinds are those of all areas, whichever are run: a reservation may be held by any.
func kinds(f *flags) (all []kube.Kind) {
	for _, a := range areas(f) {
		all = append(all, a.Kinds...)
	}
	return all
}

func areaNames() (names []string) {
	for _, a := range areas(&flags{}) {
		names = append(names, a.Name)
	}
	return names
}

// pick finds the areas named; none named is an error, not all.
func pick(f *flags) (picked []kube.AreaSetup, err error) {
	areas, names := areas(f), list(f.areas)
	for _, name := range names {
		i := slices.IndexFunc(areas, func(a kube.AreaSetup) bool { return a.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no area %q: --areas takes %s", name, strings.Join(areaNames(), ","))
		}
		picked = append(picked, areas[i])
	}
	if len(picked) == 0 {
		return nil, fmt.Errorf("no area to run: --areas takes %s", strings.Join(areaNames(), ","))
	}
	return picked, nil
}
