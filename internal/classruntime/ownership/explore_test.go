package ownership

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"k8s.io/utils/ptr"
)

// fields are all that can be, until one is enough: few numbers tell all apart.
func fields(enough func(Field) bool) {
	numbers := []int32{0, 1, 2, 4}
	all := []Owner{ours, lane, engine, scaled, gitOps}
	maybe := append([]int32{-1}, numbers...)
	for _, live := range numbers {
		for _, want := range numbers {
			for _, asked := range maybe {
				for _, target := range maybe {
					for set := range 1 << len(all) {
						for flags := range 8 {
							f := Field{Live: live, Want: want, Retake: flags&1 > 0}
							if flags&2 > 0 {
								f.Engine = "x"
							}
							if flags&4 > 0 {
								f.Own = ptr.To(int32(1)) // a limit of an autoscaler has raised it
							}
							if f.Own != nil && *f.Own >= want {
								continue
							}
							if asked >= 0 {
								f.Asked = &asked
							}
							if target >= 0 {
								f.Lane = &target
							}
							for i, o := range all {
								if set&(1<<i) > 0 {
									f.Owners = append(f.Owners, o)
								}
							}
							if enough(f) {
								return
							}
						}
					}
				}
			}
		}
	}
}

// decided says that a person, or a lane, asked for this number. That the spec was edited is no such wish where an autoscaler is
// gone whose number nobody has kept yet, or where the spec asks for one.
func (f Field) decided(n int32) bool {
	if f.governed() {
		return false
	}
	if f.Lane != nil {
		return n == *f.Lane
	}
	gone := slices.Contains(f.Owners, engine) && !slices.Contains(f.Owners, ours)
	return n == f.Want && (f.Retake || f.edited() && !gone && f.Own == nil)
}

// check says what is wrong with an answer to a field, in each of its steps: a process may end between any two.
func check(f Field, decide func(Field) Answer) error {
	is := f
	for _, r := range Requests(decide(f)) {
		next, err := is.Perform(r)
		switch {
		case err != nil:
			return fmt.Errorf("%s %s %d conflicts", r.By.Manager, r.Share.Act, r.Share.Value)
		case next.Live < is.Live && !f.decided(next.Live):
			return fmt.Errorf("falls to %d by %s of %s", next.Live, r.Share.Act, r.By.Manager)
		case next.Live != is.Live && f.governed():
			return errors.New("is written while an autoscaler governs")
		case next.Live != is.Live && len(f.claimants()) > 0 && !f.Retake:
			return errors.New("is taken from one who claimed it")
		}
		is = next
	}
	return nil
}

// TestTheNumberNeverFalls tries every field that can be, and every moment in which a process may end.
func TestTheNumberNeverFalls(t *testing.T) {
	fields(func(f Field) bool {
		if err := check(f, Decide); err != nil {
			t.Errorf("%+v: %v: %+v", f, err, Decide(f))
		}
		return t.Failed()
	})
}

// TestItComesToRest: after two answers there is nothing left to do, wherever a process ended before.
func TestItComesToRest(t *testing.T) {
	fields(func(f Field) bool {
		for range 2 {
			var err error
			if f, err = f.PerformAll(Decide(f)); err != nil {
				t.Errorf("%+v: %v", f, err)
			}
			if !f.governed() && f.Lane == nil && f.Live == f.Want {
				f.Retake = false
			}
		}
		if a := Decide(f); f.Acts(a) {
			t.Errorf("%+v is not at rest: %+v", f, a)
		}
		return t.Failed()
	})
}

// TestAnEditUnderAnEngineIsOver: the spec was edited while an autoscaler, or a lane, governed, and the child was applied. When that
// is gone, be it weeks later, the number stays, whoever has written meanwhile.
func TestAnEditUnderAnEngineIsOver(t *testing.T) {
	fields(func(f Field) bool {
		if !f.governed() && f.Lane == nil || f.Retake {
			return false
		}
		at, err := f.PerformAll(Decide(f))
		for _, wrote := range [][]Owner{at.Owners, {engine}, {engine, lane}} {
			is := at
			is.Engine, is.Lane, is.Owners, is.Live = "", nil, wrote, max(at.Live, 3)
			for range 2 {
				was := is.Live
				if err == nil {
					is, err = is.PerformAll(Decide(is))
				}
				if err != nil || is.Live < was {
					t.Errorf("%+v, then %+v: %d replicas: %v", f, at, is.Live, err)
				}
			}
		}
		return t.Failed()
	})
}

// The check finds what it is for.
func TestTheCheckCanFail(t *testing.T) {
	for what, decide := range map[string]func(Field) Answer{
		"leave it to an autoscaler that has not written": func(f Field) Answer {
			if f.Engine != "" {
				return Answer{omit(), omit()}
			}
			return Decide(f)
		},
		"restore the spec when an autoscaler is gone": func(f Field) Answer {
			if a := Decide(f); a.Spec.Act == Omit {
				return a
			}
			return Answer{f.set(SpecController, f.Want), omit()}
		},
		"take it from a person": func(f Field) Answer {
			f.Retake = true
			return Decide(f)
		},
		"apply without force over a lane": func(f Field) Answer {
			a := Decide(f)
			if a.Spec.Act == TakeOver {
				a.Spec.Act = Carry
			}
			return a
		},
	} {
		found := false
		fields(func(f Field) bool { found = check(f, decide) != nil; return found })
		if !found {
			t.Errorf("not found: %s", what)
		}
	}
}
