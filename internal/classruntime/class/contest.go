package class

import (
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	runtimev1 "github.com/statecraft-dev/statecraft/api/runtime/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// Two that set one field in turn do so for ever, and no error shows it. What can be counted is what we do ourselves: how often
// a child was applied again that would have been current without another's edit. A person who edits once is corrected, and
// one who scales is not: replicas that others set stand, and are no edit.
const (
	mostCorrections = 5                // within fightWindow, before a child is left alone
	fightWindow     = 10 * time.Minute // as long is the first pause
	longestPause    = 2 * time.Hour
	mostContested   = 32 // fields on record
)

// isPaused says that a child is left alone, because a field that would be corrected is fought over. What the spec asks for anew, or
// a person asked for, is applied all the same.
func isPaused(in input, t Target) bool {
	_, until := pauseOf(in, t)
	return until > 0 && !t.Retake
}

// pauseOf is the longest pause of a field that would be corrected, and what is left of it. A field that the record has no room for
// could not be counted, and would be corrected for ever: while the record is full of fights it is taken for another.
func pauseOf(in input, t Target) (field runtimev1.ContestedField, left time.Duration) {
	record, first := in.Obj.Status.Contested, time.Duration(0) // that ends
	for _, c := range record {
		wait := pauseLeft(c, in.Now)
		if wait > left && isOf(c, t) {
			field, left = c, wait
		}
		if wait > 0 && (first == 0 || wait < first) {
			first = wait
		}
	}
	if i := slices.IndexFunc(t.Corrects, func(e Edit) bool { return !isOnRecord(record, t.Ref, e) }); left == 0 && i >= 0 && len(record) >= mostContested && first > 0 {
		e := t.Corrects[i]
		return runtimev1.ContestedField{Kind: t.Kind, Name: t.Name, Field: cutField(e.Field), Manager: e.By}, first
	}
	return field, left
}

func isOnRecord(record []runtimev1.ContestedField, of Ref, e Edit) bool {
	return slices.ContainsFunc(record, func(c runtimev1.ContestedField) bool { return isOf(c, Target{Ref: of, Corrects: []Edit{e}}) })
}

func pauseLeft(c runtimev1.ContestedField, now time.Time) time.Duration {
	if c.PausedUntil == nil {
		return 0
	}
	return c.PausedUntil.Sub(now)
}

// contested says that a child is not as the spec asks for, and is left alone for now.
func contested(in input) (v verdict, is bool) {
	for _, f := range in.World.Functions {
		for _, c := range f.Children {
			field, left := pauseOf(in, Target{Ref: c.Ref, Corrects: c.Edits})
			if left <= 0 {
				continue
			}
			by := "which leaves no trace but in the audit log of the API server"
			if field.Manager != "" {
				by = fmt.Sprintf("last by %q", field.Manager)
			}
			if field.PausedUntil == nil {
				return verdict{reason: ReasonFieldContested, again: left, message: fmt.Sprintf(
					"Field %s of %s was changed, %s, while %d other fields are changed again and again. The manager leaves %s alone until one of these fights is over. Stop what changes them.",
					field.Field, c.Ref, by, len(in.Obj.Status.Contested), c.Ref)}, true
			}
			return verdict{reason: ReasonFieldContested, again: left, message: fmt.Sprintf(
				"Field %s of %s is changed again and again, %s. The manager has set it %d times, and leaves %s alone until %s. Stop what changes it, or ask for its value in the spec.",
				field.Field, c.Ref, by, field.Count, c.Ref, field.PausedUntil.UTC().Format(time.RFC3339))}, true
		}
	}
	return v, false
}

// noteContested counts what was corrected, and forgets what has been quiet.
func noteContested(out *runtimev1.ClassRuntime, in input, outcomes []fsm.Outcome) {
	all := slices.Clone(out.Status.Contested)
	for _, t := range corrected(outcomes) {
		for _, e := range t.Corrects {
			all = correct(all, t.Ref, e, in.Now)
		}
	}
	all = slices.DeleteFunc(all, func(c runtimev1.ContestedField) bool { return isQuiet(c, in) })
	out.Status.Contested = all[:min(len(all), mostContested)] // the oldest, or none would ever be counted twice
}

// corrected are the targets that were applied over an edit. Of what may not have been applied nothing is counted.
func corrected(outcomes []fsm.Outcome) (all []Target) {
	for _, o := range outcomes {
		a, is := o.Effect.(Apply)
		if class := fsm.ClassOf(o.Err); !is || o.Err != nil && class != fsm.Refused && class != fsm.Contested {
			continue
		}
		refused := triedIn([]fsm.Outcome{o}).refused
		for _, t := range a.Children {
			if _, was := refused[t.Function]; !was {
				all = append(all, t)
			}
		}
	}
	return all
}

// correct counts one correction. After a pause the first one decides: the next pause begins with it, and is over unnoticed if
// the field stays as it was set.
func correct(all []runtimev1.ContestedField, of Ref, e Edit, now time.Time) []runtimev1.ContestedField {
	i := slices.IndexFunc(all, func(c runtimev1.ContestedField) bool {
		return c.Kind == of.Kind && c.Name == of.Name && c.Field == cutField(e.Field)
	})
	if i < 0 {
		all = append(all, runtimev1.ContestedField{Kind: of.Kind, Name: of.Name, Field: cutField(e.Field)})
		i = len(all) - 1
	}
	c := *all[i].DeepCopy()
	c.Manager, c.Count = e.By, c.Count+1
	c.Times = append(c.Times, metav1.NewTime(now.Truncate(time.Second)))
	c.Times = c.Times[max(0, len(c.Times)-mostCorrections):]
	if c.Pauses > 0 || len(c.Times) == mostCorrections && now.Sub(c.Times[0].Time) < fightWindow {
		until := metav1.NewTime(now.Truncate(time.Second).Add(min(fightWindow<<min(c.Pauses, 10), longestPause)))
		c.Pauses, c.PausedUntil = c.Pauses+1, &until
	}
	all[i] = c
	return all
}

// isQuiet says that a field is not fought over any more: nothing was corrected for a while, no pause is left, and the child
// has it as the spec asks for.
func isQuiet(c runtimev1.ContestedField, in input) bool {
	if n := len(c.Times); pauseLeft(c, in.Now) > 0 || n > 0 && in.Now.Sub(c.Times[n-1].Time) < fightWindow {
		return false
	}
	for _, f := range in.World.Functions {
		for _, child := range f.Children {
			if isOf(c, Target{Ref: child.Ref, Corrects: child.Edits}) {
				return false
			}
		}
	}
	return true
}

// isOf says that a target would correct this very field.
func isOf(c runtimev1.ContestedField, t Target) bool {
	return c.Kind == t.Kind && c.Name == t.Name && slices.ContainsFunc(t.Corrects, func(e Edit) bool { return cutField(e.Field) == c.Field })
}

const longestField = 512

func cutField(path string) string {
	if len(path) > longestField {
		return strings.ToValidUTF8(path[:longestField], "")
	}
	return path
}
