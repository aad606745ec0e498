package fsmtest_test

import (
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/fsm/fsmtest"
	"github.com/statecraft-dev/statecraft/internal/fsm/fsmtest/internal/cache"
)

// A slip of the pen must fail a transcript, and not become part of it.
func TestSlipsInTranscripts(t *testing.T) {
	arg := func(key string, vals ...string) datadriven.CmdArg { return datadriven.CmdArg{Key: key, Vals: vals} }
	for want, d := range map[string]datadriven.TestData{
		"unknown command runn":          {Cmd: "runn"},
		`unknown field "sise"`:          {Cmd: "object", Input: `{"spec": {"sise": 4}}`},
		"cannot unmarshal string":       {Cmd: "object", Input: `{"spec": {"size": "big"}}`},
		`unknown field "Lokked"`:        {Cmd: "world", Input: `{"Lokked": true}`},
		"invalid character":             {Cmd: "world", Input: `looked: true`},
		"fail knows class=…, not klass": {Cmd: "fail", CmdArgs: []datadriven.CmdArg{arg("apply"), arg("klass", "Refused")}},
		"unknown unit":                  {Cmd: "tick", CmdArgs: []datadriven.CmdArg{arg("5x")}},
		"tick by how much?":             {Cmd: "tick"},
	} {
		if _, err := fsmtest.Command(cache.Bench(), &d); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// What the machine refuses, on the other hand, is for the transcript to show.
func TestTranscriptsShowRefusals(t *testing.T) {
	refuses, restless := cache.Bench(), cache.Bench()
	refuses.Object = func() *cache.Cache {
		c := cache.Bench().Object()
		c.Status.Phase = "Melting"
		return c
	}
	restless.Perform = func(w cache.World, _ fsm.Effect) cache.World { return w }
	for want, b := range map[string]fsmtest.Bench[*cache.Cache, cache.World]{
		"error: Cache: unknown phase \"Melting\"": refuses,
		"error: does not come to rest":            restless,
	} {
		if out, err := fsmtest.Command(b, &datadriven.TestData{Cmd: "run"}); err != nil || !strings.Contains(out, want) {
			t.Errorf("%s, %v, want %s", out, err, want)
		}
	}
}
