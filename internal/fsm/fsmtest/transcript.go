package fsmtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// Transcripts runs every file in testdata. If one fails, run go test -rewrite,
// read the diff, and commit it only if you can say why it changed.
//
//	object, world   merge JSON into the object or the world
//	run             pass until only time or others can help
//	settle          let the others do their part, then run
//	tick 5m         let time pass, then run
//	lose-save       the next pass crashes before its save
//	amnesia         lose the status, then run
//	fail <effect>   effects that begin so fail from now on; class=Refused
//	status          print what kubectl would show
func Transcripts[T fsm.Subject[T], W any](t *testing.T, b Bench[T, W]) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		tr := &transcript[T, W]{sim: b.sim()}
		tr.trace = tr.print
		datadriven.RunTest(t, path, tr.command)
	})
}

type transcript[T fsm.Subject[T], W any] struct {
	*sim[T, W]
	out   strings.Builder
	acted bool
}

func (tr *transcript[T, W]) command(t *testing.T, d *datadriven.TestData) string {
	tr.out.Reset()
	var err error
	switch d.Cmd {
	case "object":
		err = json.Unmarshal([]byte(d.Input), tr.obj)
	case "world":
		err = json.Unmarshal([]byte(d.Input), &tr.world)
	case "run":
		err = tr.rest()
	case "settle":
		tr.world = tr.settle(tr.obj, tr.world)
		err = tr.rest()
	case "tick":
		var by time.Duration
		if by, err = time.ParseDuration(d.CmdArgs[0].Key); err == nil {
			tr.now = tr.now.Add(by)
			err = tr.rest()
		}
	case "lose-save":
		tr.fault, tr.at = loseSave, tr.passes+1
	case "amnesia":
		tr.fault, tr.at = amnesia, tr.passes+1
		err = tr.rest()
	case "fail":
		tr.fail = failing(d)
	case "status":
		tr.status()
	default:
		t.Fatalf("unknown command %s", d.Cmd)
	}
	if err != nil {
		return "error: " + err.Error()
	}
	return tr.out.String()
}

// rest passes until a pass neither moves, acts nor saves.
func (tr *transcript[T, W]) rest() error {
	for range 40 {
		was := text(tr.obj)
		if _, err := tr.pass(); err != nil {
			return err
		}
		over, _ := tr.over()
		if over || text(tr.obj) == was && !tr.acted && !tr.strikes(loseSave) {
			return nil
		}
	}
	return errors.New("does not come to rest")
}

func (tr *transcript[T, W]) print(s fsm.Step[T], outcomes []fsm.Outcome, hops []fsm.Hop) {
	at := string(s.Obj.GetProgress().Phase)
	if s.Lane != "" {
		at = lane(s.Lane) + string(tr.Machine.Lanes.At(s.Obj, s.Lane).Phase)
	}
	move := func(h fsm.Hop) {
		fmt.Fprintf(&tr.out, "%s%s –%s→ %s  %s\n", lane(h.Lane), h.From, h.Event, h.To, h.Reason)
	}
	for _, h := range s.Hops {
		move(h)
	}
	d := s.Decision
	for _, o := range outcomes {
		fmt.Fprintf(&tr.out, "%s: %s  %s", at, o.Effect, d.Reason)
		if o.Err != nil {
			fmt.Fprintf(&tr.out, "  error: %v", o.Err)
		}
		tr.out.WriteString("\n")
	}
	for _, h := range hops[len(s.Hops):] {
		move(h)
	}
	switch {
	case d.Save:
		fmt.Fprintf(&tr.out, "%s: save  %s\n", at, d.Reason)
	case d.Waits() && d.Reason != "" && !s.Moved():
		wait := fmt.Sprintf("%s: wait  %s\n", at, strings.TrimSpace(string(d.Reason)+" "+d.Message))
		if !strings.HasSuffix(tr.out.String(), wait) {
			tr.out.WriteString(wait)
		}
	}
	tr.acted = len(outcomes) > 0
}

func lane(key string) string {
	if key == "" {
		return ""
	}
	return "  [" + key + "] "
}

func (tr *transcript[T, W]) status() {
	p := tr.obj.GetProgress()
	fmt.Fprintf(&tr.out, "phase=%s waitingFor=%q\n", p.Phase, p.WaitingFor)
	for _, c := range p.Conditions {
		fmt.Fprintf(&tr.out, "%s=%s %s\n", c.Type, c.Status, strings.TrimSpace(c.Reason+" "+c.Message))
	}
}

func failing(d *datadriven.TestData) func(fsm.Effect) error {
	if len(d.CmdArgs) == 0 {
		return nil
	}
	prefix, class := d.CmdArgs[0].Key, fsm.Transient // d itself is used again
	for _, a := range d.CmdArgs[1:] {
		class = fsm.ErrorClass(a.Vals[0])
	}
	return func(e fsm.Effect) error {
		if strings.HasPrefix(e.String(), prefix) {
			return &fsm.Error{Class: class, Err: errors.New("no")}
		}
		return nil
	}
}
