package process

import (
	"flag"
	"fmt"
	"slices"
	"strings"

	"github.com/statecraft-dev/statecraft/internal/areas"
	"github.com/statecraft-dev/statecraft/internal/kube"
)

// bind binds the flags of every area that a program runs; the result sets them up, in their order.
func bind(program string, set *flag.FlagSet) (setups []func() kube.AreaSetup) {
	for _, a := range areas.All() {
		if a.Program == program {
			setups = append(setups, a.Setup(set))
		}
	}
	return setups
}

// pick finds the areas named; none named is an error, not all.
func pick(program string, setups []func() kube.AreaSetup, named []string) (picked []kube.AreaSetup, err error) {
	var known []kube.AreaSetup
	for _, setup := range setups {
		known = append(known, setup())
	}
	for _, name := range named {
		i := slices.IndexFunc(known, func(a kube.AreaSetup) bool { return a.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no area %q: --areas takes %s", name, strings.Join(areaNames(program), ","))
		}
		picked = append(picked, known[i])
	}
	if len(picked) == 0 {
		return nil, fmt.Errorf("no area to run: --areas takes %s", strings.Join(areaNames(program), ","))
	}
	return picked, nil
}

func areaNames(program string) (names []string) {
	for _, a := range areas.All() {
		if a.Program == program {
			names = append(names, a.Name)
		}
	}
	return names
}
