package fsmtest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// Transcripts runs every file in testdata. If one fails, run go test -rewrite,
// read the diff, and commit it only if you can say why it changed.
//
//	object, world   merge JSON into the object or the world: lists are replaced, null removes
//	run             pass until only time or others can help
//	settle          let the others do their part, then run
//	tick 5m         let time pass, then run
//	tick            let time pass until the object wants to be looked at, then run
//	lose-save       the next pass crashes before its save
//	lose-answer     the first effect of the next pass happens, and times out
//	amnesia         lose the status, then run
//	fail <effect>   effects that begin so fail from now on; class=Refused; without <effect> none does
//	status          print what kubectl would show
func Transcripts[T fsm.Subject[T], W any](t *testing.T, b Bench[T, W]) {
	met, left := newMessages(), transcriptsIn(t, "testdata")
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		if !isTranscript(path) {
			return
		}
		left--
		tr := &transcript[T, W]{sim: b.sim()}
		tr.trace = func(s fsm.Step[T], outcomes []fsm.Outcome, next fsm.Next[T]) {
			tr.print(s, outcomes, next)
			listen(met, b, s, next)
		}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			out, err := tr.command(d)
			if err != nil {
				d.Fatalf(t, "%v", err)
			}
			return out
		})
	})
	if left == 0 { // all ran, and not those alone that -run has chosen
		checkMessages(t, b, met)
	}
}

func isTranscript(path string) bool { return filepath.Ext(path) == ".txt" }

func transcriptsIn(t *testing.T, folder string) (n int) {
	t.Helper()
	files, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if isTranscript(f.Name()) {
			n++
		}
	}
	return n
}

type transcript[T fsm.Subject[T], W any] struct {
	*sim[T, W]
	out   strings.Builder
	acted bool
	again time.Duration
}

// command does what one command says. What the machine refuses is part of the
// output; an error is a slip of the pen, which no -rewrite may turn into a claim.
func (tr *transcript[T, W]) command(d *datadriven.TestData) (string, error) {
	tr.out.Reset()
	var slip error
	switch d.Cmd {
	case "object":
		slip = merge(&tr.obj, d.Input)
	case "world":
		slip = merge(&tr.world, d.Input)
	case "run":
		tr.rest()
	case "settle":
		tr.world = tr.settle(tr.obj, tr.world)
		tr.rest()
	case "tick":
		slip = tr.tick(d.CmdArgs)
	case "lose-save":
		tr.fault = fault{kind: crash, at: tr.passes + 1, nth: -1}
	case "lose-answer":
		tr.fault = fault{kind: loseAnswer, at: tr.passes + 1}
	case "amnesia":
		tr.fault = fault{kind: amnesia, at: tr.passes + 1}
		tr.rest()
	case "fail":
		tr.fail, slip = failing(d.CmdArgs)
	case "status":
		tr.status()
	default:
		slip = fmt.Errorf("unknown command %s", d.Cmd)
	}
	return tr.out.String(), slip
}

// tick lets the time given pass, or the time until the next alarm.
func (tr *transcript[T, W]) tick(args []datadriven.CmdArg) error {
	by := tr.again
	switch {
	case len(args) > 0:
		var err error
		if by, err = time.ParseDuration(args[0].Key); err != nil {
			return err
		}
	case by == fsm.Never:
		return errors.New("only a wake leads to another pass: tick by how much?")
	default:
		fmt.Fprintf(&tr.out, "after %s\n", by.Round(time.Second))
	}
	tr.now = tr.now.Add(by)
	tr.rest()
	return nil
}

// rest passes until a pass neither moves, acts nor saves.
func (tr *transcript[T, W]) rest() {
	for range 40 {
		was := text(tr.obj)
		again, err := tr.pass()
		if err != nil {
			fmt.Fprintf(&tr.out, "error: %v\n", err)
			return
		}
		tr.again = again
		_, over := tr.over()
		if over || text(tr.obj) == was && !tr.acted && !tr.strikes(crash) {
			return
		}
	}
	tr.out.WriteString("error: does not come to rest\n")
}

func (tr *transcript[T, W]) print(s fsm.Step[T], outcomes []fsm.Outcome, next fsm.Next[T]) {
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
	for _, h := range next.Hops[len(s.Hops):] {
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
	fmt.Fprintf(&tr.out, "phase=%s reason=%s waitingFor=%q\n", p.Phase, p.Reason, p.WaitingFor)
	for _, c := range p.Conditions {
		fmt.Fprintf(&tr.out, "%s=%s %s\n", c.Type, c.Status, strings.TrimSpace(c.Reason+" "+c.Message))
	}
}

func failing(args []datadriven.CmdArg) (func(fsm.Effect) error, error) {
	if len(args) == 0 {
		return nil, nil
	}
	prefix, class := args[0].Key, fsm.Transient
	for _, a := range args[1:] {
		if a.Key != "class" || len(a.Vals) != 1 {
			return nil, fmt.Errorf("fail knows class=…, not %s", a.Key)
		}
		class = fsm.ErrorClass(a.Vals[0])
	}
	return func(e fsm.Effect) error {
		if strings.HasPrefix(e.String(), prefix) {
			return &fsm.Error{Class: class, Err: errors.New("no")}
		}
		return nil
	}, nil
}
