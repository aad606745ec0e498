package fsmtest_test

import (
	"fmt"
	"time"

	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/fsm/fsmtest"
	"github.com/statecraft-dev/statecraft/internal/fsm/fsmtest/internal/execution"
)

type (
	run      = execution.Execution
	runInput = fsm.Input[*run, execution.World]
	runRule  = fsm.Rule[runInput]
	runBench = fsmtest.Bench[*run, execution.World]
	runStep  = fsm.Step[*run]
	runNext  = fsm.Next[*run]
)

// brokenRun is the execution's bench, with one phase changed.
func brokenRun(phase fsm.Phase, plant func(*runRule)) runBench {
	b, m := execution.Bench(), execution.Machine
	m.Rules = change(m.Rules, phase, plant)
	b.Machine, b.Safe = &m, nil
	return b
}

// deciding replaces the decision of one phase, where instead says so.
func deciding(phase fsm.Phase, instead func(runInput) (fsm.Decision, bool)) runBench {
	return brokenRun(phase, func(r *runRule) {
		own := r.Decide
		r.Decide = func(in runInput) fsm.Decision {
			if d, is := instead(in); is {
				return d
			}
			return own(in)
		}
	})
}

// executionFaults are faults of a machine's rules.
func executionFaults() map[string]planted {
	untaken := brokenRun(execution.Validated, func(r *runRule) { r.On["Skipped"] = execution.Completed })

	undeclared := deciding(execution.Validated, func(runInput) (fsm.Decision, bool) { return fsm.Fire("Skipped", "R"), true })

	twoThings := deciding(execution.Validated, func(runInput) (fsm.Decision, bool) {
		return fsm.Decision{On: execution.Clear, Save: true, Reason: "R"}, true
	})

	oddReason := deciding(execution.Validated, func(runInput) (fsm.Decision, bool) { return fsm.Wait("is it valid?", "target"), true })

	forever := deciding(execution.Validated, func(in runInput) (fsm.Decision, bool) {
		return fsm.Wait("ReservedByOther"), in.World.Holder == "other"
	})

	looping := brokenRun(execution.Validated, func(*runRule) {})
	looping.Machine.Guards = append(looping.Machine.Guards[:1:1], fsm.Guard[runInput]{
		On: "Again", To: execution.Validating, In: []fsm.Phase{execution.Validated}, When: func(in runInput) bool { return in.World.NeedsApproval },
	})

	lateFirst := execution.Bench()
	lateFirst.Step = func(in runInput) (runStep, error) {
		if p := in.Obj.Status.Place; p.Deadline != nil && in.Now.After(p.Deadline.Time) {
			in.World = execution.World{} // as if nothing had been seen
		}
		return execution.Machine.Step(in)
	}

	blind := deciding(execution.Executing, func(in runInput) (fsm.Decision, bool) {
		return fsm.Fire(execution.Succeeded, "Applied"), in.World.Job == nil && in.Obj.Status.Before != ""
	})

	worldWriter := deciding(execution.Executing, func(in runInput) (fsm.Decision, bool) {
		if in.World.Job != nil {
			in.World.Job.Suspended = false
		}
		return fsm.Decision{}, false
	})

	objectWriter := deciding(execution.Validating, func(in runInput) (fsm.Decision, bool) {
		in.Obj.Status.Plans++
		return fsm.Decision{}, false
	})

	holdWriter := brokenRun(execution.Validated, func(*runRule) {})
	hold := holdWriter.Machine.Holds[0]
	hold.When = func(in runInput) (string, bool) { in.Obj.Status.Plans = 9; return "", false }
	holdWriter.Machine.Holds = []fsm.Hold[runInput]{hold}

	misspelt := deciding(execution.Validated, func(runInput) (fsm.Decision, bool) { return fsm.Wait("NotLooked", "traget"), true })

	wordless := deciding(execution.Validated, func(runInput) (fsm.Decision, bool) {
		return fsm.Wait("NotLooked", "target").Because("the target to be seen"), true
	})

	asked := 0
	moody := deciding(execution.Validating, func(runInput) (fsm.Decision, bool) {
		asked++
		return fsm.Wait("NotLooked", "target").Because("asked %d times", asked%2), true
	})

	return map[string]planted{
		"an edge never taken":                 {untaken.Explore, "no world takes validated –Skipped→ completed"},
		"a move that is not declared":         {undeclared.Explore, "validated has no way out by Skipped"},
		"two decisions at once":               {twoThings.Explore, "decides on two things at once"},
		"a reason that cannot be saved":       {oddReason.Explore, "a reason that the API server refuses"},
		"a wait for nothing":                  {forever.Explore, "waits for nothing"},
		"a wait for what nobody tells":        {misspelt.Explore, `waits for "traget", which is not in the table of wakes`},
		"a wait that no sentence explains":    {wordless.Explore, "without a sentence that says why"},
		"a guard that loops":                  {looping.Explore, "runs in a circle"},
		"the deadline before success":         {lateFirst.Late, "in time"},
		"nothing seen is taken for success":   {blind.Blind, "sees nothing, and takes it for success"},
		"a write to the world":                {worldWriter.Pure, "Decide of executing wrote to its input"},
		"a write to the object":               {objectWriter.Pure, "Decide of validating wrote to its input"},
		"a hold that writes":                  {holdWriter.Pure, "hold ReservedByOther wrote to its input"},
		"another answer to the same question": {moody.Pure, "decides {"},
	}
}

// jobFaults are faults in what is done outside, at most once.
func jobFaults() map[string]planted {
	early := execution.Bench()
	early.Step = func(in runInput) (runStep, error) {
		s, err := execution.Machine.Step(in)
		if err == nil && s.Moved() {
			in.Obj = s.Obj
			next, err := execution.Machine.Step(in)
			s.Decision = next.Decision
			return s, err
		}
		return s, err
	}

	// The answer is believed: a Job that was answered for and is not there is waited for.
	believed := brokenRun(execution.Executing, func(r *runRule) {
		own := r.Decide
		r.Decide = func(in runInput) fsm.Decision {
			if in.Obj.Status.Effect == execution.Started && in.World.Job == nil {
				return fsm.Wait("Prepared", "jobs")
			}
			return own(in)
		}
	})
	believed.Machine.Report = reporting(func(out *run, p fsm.Pass) {
		if len(p.Outcomes) > 0 && p.Outcomes[0].Err == nil && p.Decision.Reason == "Prepared" {
			out.Status.Effect = execution.Started
		}
	})

	// A time-out is taken for a no.
	givenUp := brokenRun(execution.Executing, func(r *runRule) {
		r.Fail = map[fsm.ErrorClass]fsm.Event{fsm.Transient: execution.TargetChanged}
	})

	released := deciding(execution.Executing, func(in runInput) (fsm.Decision, bool) {
		if j := in.World.Job; j != nil && j.Suspended {
			return fsm.Do("Released", execution.ReleaseJob{UID: j.UID}), true
		}
		return fsm.Decision{}, false
	})
	released.Safe = execution.Bench().Safe

	// The Job is cleaned up after the end, and with it the only proof that it ran.
	replay := execution.Bench()
	m := execution.Machine
	m.Lost = func(runInput) (fsm.Phase, bool) { return "", false }
	replay.Machine = &m
	replay.Settle = func(x *run, w execution.World) execution.World {
		if w = execution.Settle(x, w); x.Status.Phase == execution.Completed {
			w.Job, w.Message = nil, ""
		}
		return w
	}

	unsaved := brokenRun(execution.Executing, func(*runRule) {})
	unsaved.Machine.Report = nil

	return map[string]planted{
		"effects before the phase is durable": {early.Crash, "but validating is saved"},
		"double effect after a crash":         {twice().Crash, "create-job of x1:2"},
		"double effect on a stale object":     {twice().Stale, "create-job of x1:2"},
		"an answer taken for a fact":          {believed.Crash, "lost effect in pass"},
		"a lost answer taken for a failure":   {givenUp.Crash, "lost answer in pass 7, number 1: ends failed/target_changed"},
		"no point of no return":               {released.Explore, "releases a Job that is not saved"},
		"a replay after amnesia":              {replay.Amnesia, "amnesia in pass"},
		"a save that saves nothing":           {unsaved.Crash, "ends failed/validation_timeout, not completed/Applied"},
	}
}

// twice gives its Job a random name, and remembers the UID instead of looking for it.
func twice() runBench {
	b := deciding(execution.Executing, func(in runInput) (fsm.Decision, bool) {
		s := in.Obj.Status
		return fsm.Do("Prepared", execution.CreateJob{Owner: string(in.Obj.UID)}), s.JobUID == "" && s.Before != ""
	})
	b.Machine.Report = reporting(func(out *run, p fsm.Pass) {
		if len(p.Outcomes) > 0 && p.Decision.Reason == "Prepared" {
			out.Status.JobUID = "job-x1"
		}
	})
	jobs := 0
	b.Perform = func(w execution.World, e fsm.Effect) execution.World {
		if _, ok := e.(execution.CreateJob); ok {
			jobs++
			w.Job, w.Footprint = nil, fmt.Sprint("f", jobs)
		}
		return execution.Perform(w, e)
	}
	return b
}

// reporting is the execution's report, and more.
func reporting(more func(*run, fsm.Pass)) func(*run, runInput, fsm.Pass) {
	return func(out *run, in runInput, p fsm.Pass) {
		execution.Machine.Report(out, in, p)
		more(out, p)
	}
}

// stateFaults are faults in what is written to the status.
func stateFaults() map[string]planted {
	reducing := func(spoil func(in runInput, o []fsm.Outcome, n *runNext)) runBench {
		b := execution.Bench()
		b.Reduce = func(in runInput, s runStep, o []fsm.Outcome) runNext {
			n := execution.Machine.Reduce(in, s, o)
			spoil(in, o, &n)
			return n
		}
		return b
	}
	impatient := reducing(func(_ runInput, _ []fsm.Outcome, n *runNext) { n.Obj.Status.RetryAt = nil })

	steady := reducing(func(in runInput, _ []fsm.Outcome, n *runNext) {
		if at := n.Obj.Status.RetryAt; at != nil && at.After(in.Now) {
			at.Time = in.Now.Truncate(time.Second).Add(2 * time.Second)
			n.Again = at.Sub(in.Now)
		}
	})

	raw := reducing(func(_ runInput, o []fsm.Outcome, n *runNext) {
		if len(o) > 0 && o[0].Err != nil {
			n.Obj.Status.WaitingFor = o[0].Err.Error()
		}
	})

	fraction := reducing(func(in runInput, _ []fsm.Outcome, n *runNext) { n.Obj.Status.Since.Time = in.Now.Add(time.Nanosecond) })

	talkative := reducing(func(in runInput, _ []fsm.Outcome, n *runNext) {
		if n.Obj.Status.Phase == execution.Completed && in.World.Job == nil {
			n.Obj.Status.Effect = execution.Unknown
		}
	})

	hot := reducing(func(in runInput, _ []fsm.Outcome, n *runNext) {
		if in.Now.Sub(in.Obj.Status.Since.Time) > time.Minute {
			n.Again = 0
		}
	})

	guessing := execution.Bench()
	guessing.Step = func(in runInput) (runStep, error) {
		if _, known := execution.Machine.Phases[in.Obj.Status.Phase]; !known {
			in.Obj.Status.Phase = ""
		}
		return execution.Machine.Step(in)
	}

	return map[string]planted{
		"back off lost on our own write":         {impatient.BackOff, "tried again at once"},
		"a back off that does not grow":          {steady.BackOff, "tries in"},
		"a raw error in the status":              {raw.BackOff, "shows a raw error"},
		"a stamp that does not survive the save": {fraction.Crash, "status changes when saved"},
		"a write after the end":                  {talkative.Rest, "writes after the end"},
		"a wait that spins":                      {hot.Rest, "spins in"},
		"a guess about an unknown phase":         {guessing.Rollback, "guesses what to do in the unknown phase"},
	}
}
