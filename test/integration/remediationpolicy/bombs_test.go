package remediationpolicy

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/statecraft-dev/statecraft/internal/remediation/policy"
	"github.com/statecraft-dev/statecraft/internal/remediation/policy/child"
	"github.com/statecraft-dev/statecraft/test/harness"
)

const decides = "package statecraft.remediation\ndefault allow := true\n"

// doubled is a pack in which each of many rules is an expression of the one before.
func doubled(times int, first, next, last string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%sx0 := %s\n", decides, first)
	for i := range times {
		fmt.Fprintf(&b, "x%d := %s\n", i+1, strings.ReplaceAll(next, "X", fmt.Sprintf("x%d", i)))
	}
	fmt.Fprintf(&b, "allow := false if %s\n", strings.ReplaceAll(last, "X", fmt.Sprintf("x%d", times)))
	return b.String()
}

// bombs are packs that would run for minutes or need all memory. Each would allow in the end.
var bombs = map[string]string{
	"loops in loops": decides + `allow := false if {
		some a in numbers.range(1, 3000)
		some b in numbers.range(1, 3000)
		some c in numbers.range(1, 3000)
		a * b * c < 0
	}`,
	"a product of collections": decides + `allow := false if count({[a, b, c] |
		some a in numbers.range(1, 1000)
		some b in numbers.range(1, 1000)
		some c in numbers.range(1, 1000)
	}) == 0`,
	"a long range":            decides + `allow := false if count(numbers.range(1, 1000000000)) == 0`,
	"a range of huge numbers": decides + `allow := false if count(numbers.range(1, 1e30)) == 0`,
	"texts that double":       doubled(40, `"x"`, `concat("", [X, X])`, `X == ""`),
	"texts by sprintf":        doubled(40, `"x"`, `sprintf("%s%s", [X, X])`, `X == ""`),
	"texts by replace":        doubled(12, `"xx"`, `replace(X, "x", X)`, `X == ""`),
	"texts by regex":          doubled(12, `"xx"`, `regex.replace(X, "x", X)`, `X == ""`),
	"squares":                 doubled(40, `3`, `X * X`, `X == 0`),
	"a huge exponent":         decides + `allow := false if round(to_number("1e1000000000")) + 1 == 0`,
	"lists in lists":          doubled(40, `[1]`, `[X, X]`, `count([p | walk(X, [p, _])]) == 0`),
	"JSON of lists in lists":  doubled(40, `json.unmarshal("[1]")`, `json.unmarshal(sprintf("[%s,%s]", [json.marshal(X), json.marshal(X)]))`, `X == 0`),
	"lists that double":       doubled(40, `numbers.range(1, 100)`, `array.concat(X, X)`, `count(X) == 0`),
	"unions of objects": decides + `allow := false if count(object.union_n([o |
		some a in numbers.range(1, 3000)
		o := {sprintf("%d", [b * a]): {"x": a} | some b in numbers.range(1, 3000)}
	])) == 0`,
	"powers of a set": decides + `allow := false if {
		s := {x | some x in numbers.range(1, 60)}
		count({t | some a in s; some b in s; some c in s; some d in s; some e in s; t := {a, b, c, d, e}}) == 0
	}`,
	"a split text":         doubled(24, `"xx"`, `concat("", [X, X])`, `count({y | some y in split(X, "")}) == 0`),
	"a searched text":      doubled(22, `"ax"`, `concat("", [X, X])`, `count(regex.find_all_string_submatch_n("(a?){500}(x?){500}", X, -1)) == 0`),
	"nested brackets":      decides + "y := " + strings.Repeat("[", 1<<20) + strings.Repeat("]", 1<<20),
	"fifty thousand rules": decides + strings.Repeat("y contains x if { some x in input.a; x > 1; not x == 2 }\n", 50_000),
	"a recursive template": doubled(40, `"x"`, `$"{X}{X}"`, `X == ""`),
}

func pack(text string) policy.Question {
	return policy.Question{
		Pack:       policy.NewPack(map[string]string{"a.rego": text}),
		Conditions: []policy.Condition{{Name: "c"}},
	}
}

// ask repeats a question that the machine was too busy for.
func (a *asker) ask(t *testing.T, q policy.Question) policy.Reply {
	t.Helper()
	for range 30 {
		r, err := a.Evaluate(t.Context(), q)
		if err == nil {
			return r
		}
		if !errors.Is(err, child.ErrStarved) {
			t.Error(err)
			return policy.Reply{}
		}
	}
	t.Error(child.ErrStarved)
	return policy.Reply{}
}

// What a process holds besides the memory that is limited: the program itself, mapped from its file.
const program = 64 << 20

func TestBombsAreBoundedAndDeny(t *testing.T) {
	for name, text := range bombs {
		t.Run(name, func(t *testing.T) {
			// Two at a time, as in production. Neither knows the reply to the other.
			askers := [2]*asker{newAsker("evaluate"), newAsker("evaluate")}
			var replies [2]policy.Reply
			var wg sync.WaitGroup
			for i, a := range askers {
				wg.Go(func() { replies[i] = a.ask(t, pack(text)) })
			}
			wg.Wait()
			r := replies[0]
			if r.Answer.Allow || r.Problem == "" || r.Conditions["c"].Holds || r.Conditions["c"].Message == "" {
				t.Errorf("got %+v", r)
			}
			if replies[1].Problem != r.Problem {
				t.Errorf("%q the first time, %q the second", r.Problem, replies[1].Problem)
			}
			for _, a := range askers {
				worst := a.worst()
				harness.Row(t, "%.2f s, %.2f s of CPU, %d MiB: %.48s", worst.Wall.Seconds(), worst.CPU.Seconds(), worst.Memory>>20, r.Problem)
				// A process that got little of the processors also takes long to be gone.
				late := worst.Wall > child.Wall+time.Second/2 && worst.CPU > child.Wall/2
				if late || worst.CPU > child.Wall+time.Second/2 || worst.Memory > child.Memory+program {
					t.Errorf("it cost %+v", worst)
				}
			}
		})
	}
}

func TestTenBombsAtOnceLeaveTheManagerAlone(t *testing.T) {
	a := newAsker("evaluate")
	runtime.GC()
	before, began := resident(t), time.Now()
	var wg sync.WaitGroup
	for i := range 10 {
		wg.Go(func() {
			text := bombs["a product of collections"] + fmt.Sprintf("\nthis := %d", i)
			if r := a.ask(t, pack(text)); r.Problem != policy.ProblemExceeded {
				t.Errorf("got %+v", r)
			}
		})
	}
	wg.Wait()
	took, after := time.Since(began), resident(t)
	harness.Row(t, "10 in %.1f s, each at most %d MiB; the process that asks grew by %d KiB", took.Seconds(), a.worst().Memory>>20, (after-before)>>10)
	if after > before+16<<20 {
		t.Errorf("the process that asks grew from %d to %d", before, after)
	}
}

// resident is the memory of this process.
func resident(t *testing.T) int64 {
	t.Helper()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	var size, pages int64
	if _, err := fmt.Sscan(string(text), &size, &pages); err != nil {
		t.Fatal(err)
	}
	return pages * int64(os.Getpagesize())
}

func isTooMany(err error) bool { return errors.Is(err, syscall.EMFILE) }

func TestAProcessReachesNothing(t *testing.T) {
	a := newAsker("escape")
	if r := a.ask(t, policy.Question{}); r.Problem != "" || len(r.Answer.Reasons) > 0 {
		t.Errorf("got %+v", r)
	}
}
