package child

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/statecraft-dev/statecraft/internal/remediation/policy"
)

// as is a client of processes that behave so. They have more time than in production, because
// what is tried is not how busy this machine is.
func as(behaviour string) *Client {
	c := NewClient(os.Args[0], behaviour)
	c.wall = time.Minute
	return c
}

func question(summary string) policy.Question {
	return policy.Question{
		Input:      policy.Input{Change: policy.Change{Summary: summary}},
		Conditions: []policy.Condition{{Name: "a"}},
	}
}

func TestRepliesAreRemembered(t *testing.T) {
	c := as("answer")
	pid := func(q policy.Question) string {
		t.Helper()
		r, err := c.Evaluate(t.Context(), q)
		if err != nil || !r.Answer.Allow {
			t.Fatal(r, err)
		}
		pid := r.Answer.Reasons[0]
		r.Answer.Reasons[0] = "changed by the caller"
		return pid
	}
	first := pid(policy.Question{})
	if again := pid(policy.Question{}); again != first {
		t.Errorf("process %s answered, then %s", first, again)
	}
	for name, other := range map[string]policy.Question{
		"another pack":      {Pack: policy.NewPack(map[string]string{"a.rego": "x"})},
		"another input":     {Input: policy.Input{Now: "later"}},
		"another condition": {Conditions: []policy.Condition{{Name: "a"}}},
	} {
		if pid(other) == first {
			t.Errorf("%s: the reply to the first question came back", name)
		}
	}
	tests := policy.NewPack(map[string]string{"a_test.rego": "x"})
	if pid(policy.Question{Pack: tests}) != first {
		t.Error("a test of the pack is part of the question")
	}
}

func TestOldRepliesAreForgotten(t *testing.T) {
	var m memory
	name := func(i int) key { return key{byte(i), byte(i >> 8)} }
	for i := range 10 * remembered {
		m.keep(name(i), policy.Reply{Problem: strconv.Itoa(i)})
		m.keep(name(i), policy.Reply{Problem: "again"})
		if r, known := m.find(name(i)); !known || r.Problem != strconv.Itoa(i) {
			t.Fatalf("reply %d is %+v", i, r)
		}
		if _, known := m.find(name(i - remembered)); known || len(m.replies) > remembered {
			t.Fatalf("after %d there are %d", i, len(m.replies))
		}
	}
}

func TestAProcessGetsNothingFromOurEnvironment(t *testing.T) {
	t.Setenv("PASSWORD", "secret")
	r, err := as("answer").Evaluate(t.Context(), policy.Question{})
	if err != nil || strings.Contains(r.Answer.Reasons[1], "secret") {
		t.Errorf("got %+v, %v", r, err)
	}
}

func TestAReplyWithAProblemDenies(t *testing.T) {
	r, err := as("answer").Evaluate(t.Context(), question("no answer"))
	if diff := cmp.Diff(policy.Reply{Problem: "no answer"}, r); err != nil || diff != "" {
		t.Error(diff, err)
	}
}

func TestNoMoreThanTwoAreAskedAtATime(t *testing.T) {
	c := as("slow")
	type span struct{ from, to int64 }
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		spans []span
	)
	for i := range 8 {
		wg.Go(func() {
			r, err := c.Evaluate(t.Context(), question(strconv.Itoa(i)))
			if err != nil {
				t.Error(err)
				return
			}
			from, _ := strconv.ParseInt(r.Answer.Reasons[0], 10, 64)
			to, _ := strconv.ParseInt(r.Answer.Reasons[1], 10, 64)
			mu.Lock()
			defer mu.Unlock()
			spans = append(spans, span{from, to})
		})
	}
	wg.Wait()
	most := 0
	for _, a := range spans {
		at := 0
		for _, b := range spans {
			if b.from <= a.from && a.from < b.to {
				at++
			}
		}
		most = max(most, at)
	}
	if most > 2 {
		t.Errorf("%d were asked at a time", most)
	}
}

func TestCallersOfOneQuestionShareAProcess(t *testing.T) {
	c := as("slow")
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		began []string
	)
	for range 8 {
		wg.Go(func() {
			r, err := c.Evaluate(t.Context(), question(""))
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			began = append(began, r.Answer.Reasons[0])
		})
	}
	wg.Wait()
	slices.Sort(began)
	if n := len(slices.Compact(began)); n > 2 {
		t.Errorf("%d processes answered one question", n)
	}
}

func TestFailuresToAskAreErrors(t *testing.T) {
	for behaviour, want := range map[string]string{
		"refuse":  "exit status 1",
		"usage":   "exit status 2",
		"bug":     "exit status 2",
		"garbage": "read reply",
		"silent":  "read reply",
		"endless": "evaluate policy pack",
		"idle":    ErrStarved.Error(),
	} {
		t.Run(behaviour, func(t *testing.T) {
			t.Parallel()
			c := as(behaviour)
			if behaviour == "idle" {
				c.wall = slowness
			}
			r, err := c.Evaluate(t.Context(), question(""))
			if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
				t.Errorf("got %+v, %v", r, err)
			}
			if len(c.memory.replies) > 0 {
				t.Error("the failure is remembered")
			}
		})
	}
	if _, err := NewClient("/nonexistent").Evaluate(t.Context(), question("")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

func TestWhatAPackIsTheCauseOfDenies(t *testing.T) {
	for behaviour, want := range map[string]string{
		"memory":   policy.ProblemExceeded,
		"segfault": policy.ProblemExceeded,
		"panic":    "The evaluation of the policy pack panicked.",
	} {
		r, err := as(behaviour).Evaluate(t.Context(), question(""))
		if err != nil || r.Answer.Allow || !strings.HasPrefix(r.Problem, want) || strings.Contains(r.Problem, "secret") {
			t.Errorf("%s: got %+v, %v", behaviour, r, err)
		}
		if v, asked := r.Conditions["a"]; !asked || v.Holds || v.Message != r.Problem {
			t.Errorf("%s: the condition is %+v", behaviour, v)
		}
	}
	long := question(strings.Repeat("x", maxQuestion))
	r, err := as("answer").Evaluate(t.Context(), long)
	if err != nil || r.Answer.Allow || !strings.Contains(r.Problem, "longer than 4 MiB") {
		t.Errorf("a long question: got %+v, %v", r, err)
	}
}

func TestErrorsOfAProcessAreBounded(t *testing.T) {
	r, err := as("noisy").Evaluate(t.Context(), question(""))
	if err != nil || !r.Answer.Allow {
		t.Errorf("got %+v, %v", r, err)
	}
	h := &head{most: 5}
	n, err := fmt.Fprint(h, strings.Repeat("x", 10))
	if n != 10 || err != nil || h.kept.Len() != 5 {
		t.Errorf("wrote %d, %v, kept %d", n, err, h.kept.Len())
	}
}

func TestACallerThatGivesUpEndsTheProcess(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), slowness)
	defer cancel()
	var cost Cost
	c := as("idle")
	c.OnCost(func(is Cost) { cost = is })
	if _, err := c.Evaluate(ctx, question("")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	if cost.Wall == 0 || cost.Wall > c.wall/2 {
		t.Errorf("the process ran for %s", cost.Wall)
	}
}

func TestAQuestionThatIsTooLongIsNotRead(t *testing.T) {
	text := `{"input":{"now":"` + strings.Repeat("x", maxQuestion) + `"}}`
	var out strings.Builder
	err := serve(strings.NewReader(text), &out, func(policy.Question) policy.Reply { return policy.Reply{} })
	if err == nil || out.Len() > 0 {
		t.Errorf("got %q, %v", out.String(), err)
	}
	err = serve(strings.NewReader("{}"), &out, func(policy.Question) policy.Reply {
		return policy.Reply{Problem: strings.Repeat("x", maxReply)}
	})
	if err == nil || out.Len() > 0 {
		t.Errorf("a long reply: got %q, %v", out.String(), err)
	}
}
