package kube

import (
	"net/http"
	"testing"
)

func TestAPathHasOneHandler(t *testing.T) {
	of := func(name string, paths ...string) AreaSetup {
		a := AreaSetup{Name: name, Handlers: map[string]http.Handler{}}
		for _, path := range paths {
			a.Handlers[path] = http.NotFoundHandler()
		}
		return a
	}
	for what, c := range map[string]struct {
		areas []AreaSetup
		paths int
		fails bool
	}{
		"none":                 {[]AreaSetup{of("toy")}, 0, false},
		"of two areas":         {[]AreaSetup{of("toy", "/debug/toys"), of("edge", "/debug/records")}, 2, false},
		"one path twice":       {[]AreaSetup{of("toy", "/debug/records"), of("edge", "/debug/records")}, 0, true},
		"that of metrics":      {[]AreaSetup{of("toy", "/metrics")}, 0, true},
		"one without its root": {[]AreaSetup{of("toy", "debug")}, 0, true},
	} {
		got, err := handlersOf(c.areas)
		if len(got) != c.paths || (err != nil) != c.fails {
			t.Errorf("%s: %d paths, %v", what, len(got), err)
		}
	}
}
