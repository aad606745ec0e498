package guard

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// edit is a change of the first binding, which gives it another generation.
func edit(times int64) func(*Live) {
	return func(l *Live) { l.Bindings[0].Generation += times }
}

// keep stores the record of what is live, as the API server would at that time.
func keep(t *testing.T, s Shipped, l *Live, at time.Duration) {
	t.Helper()
	next, _, changed := s.Judge(*l).Next()
	if !changed {
		t.Fatal("there is nothing to record")
	}
	cm, err := next.ConfigMap("capture", "statecraft-system")
	if err != nil {
		t.Fatal(err)
	}
	cm.CreationTimestamp = metav1.NewTime(installed.Add(at))
	l.Record = RecordOf(cm)
}

// TestAPolicyThatWasWeakenedAndRestoredWasNotInForce: it is as it was, and nothing but its generation tells. How
// long it was another, nobody knows.
func TestAPolicyThatWasWeakenedAndRestoredWasNotInForce(t *testing.T) {
	const hour = time.Hour
	for name, tc := range map[string]struct {
		happens func(t *testing.T, s Shipped, l *Live)
		since   time.Duration // after the installation; 0 is never
		always  time.Duration
	}{
		"it was never changed, and nobody recorded it":       {func(*testing.T, Shipped, *Live) {}, 1, 1},
		"it was never changed":                               {func(t *testing.T, s Shipped, l *Live) { keep(t, s, l, hour) }, 1, 1},
		"it was weakened and restored before anybody looked": {func(_ *testing.T, _ Shipped, l *Live) { edit(2)(l) }, 0, 0},
		"it was weakened and restored since": {func(t *testing.T, s Shipped, l *Live) {
			keep(t, s, l, hour)
			edit(2)(l)
		}, 0, 0},
		"and that was recorded": {func(t *testing.T, s Shipped, l *Live) {
			keep(t, s, l, hour)
			edit(2)(l)
			keep(t, s, l, 2*hour)
		}, 2 * hour, 2 * hour},
		"another was changed after that": {func(t *testing.T, s Shipped, l *Live) {
			edit(2)(l)
			keep(t, s, l, 2*hour)
			l.Policies[0].Generation++
			keep(t, s, l, 3*hour)
		}, 3 * hour, 2 * hour},
		"it was changed by the next version": {func(t *testing.T, s Shipped, l *Live) {
			keep(t, s, l, hour)
			edit(1)(l)
		}, 0, 1},
		"and that was recorded, too": {func(t *testing.T, s Shipped, l *Live) {
			keep(t, s, l, hour)
			edit(1)(l)
			keep(t, s, l, 2*hour)
		}, 2 * hour, 1},
		"it was deleted and made again": {func(t *testing.T, s Shipped, l *Live) {
			keep(t, s, l, hour)
			l.Bindings[0].UID, l.Bindings[0].CreationTimestamp = "another", metav1.NewTime(installed.Add(2*hour))
		}, 2 * hour, 2 * hour},
		"another of that generation was recorded": {func(t *testing.T, s Shipped, l *Live) {
			edit(2)(l)
			keep(t, s, l, hour)
			l.Bindings[0].UID = "another"
		}, 0, 0},
		"the record cannot be read": {func(t *testing.T, s Shipped, l *Live) {
			edit(2)(l)
			keep(t, s, l, hour)
			l.Record = RecordOf(&corev1.ConfigMap{Data: map[string]string{seenKey: "{"}})
		}, 0, 0},
	} {
		s := shipped(t, "statecraft-system")
		is := live(s)
		tc.happens(t, s, &is)
		v := s.Judge(is)
		if v.Gap != "" || !dated(v.Since, tc.since) || !dated(v.Unbroken, tc.always) {
			t.Errorf("%s: in force since %s, never another since %s, %q", name, v.Since, v.Unbroken, v.Gap)
		}
	}
}

// dated compares a time with one after the installation: 0 is never, 1 is the installation itself.
func dated(is time.Time, want time.Duration) bool {
	switch want {
	case 0:
		return is.Equal(never)
	case 1:
		return is.Equal(installed.Time)
	}
	return is.Equal(installed.Add(want))
}

// TestARecordIsReplacedWhenItSaysAnother, and at no other time: at rest nothing is written.
func TestARecordIsReplacedWhenItSaysAnother(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*Live)
		want   bool
	}{
		"nothing has changed":        {func(*Live) {}, false},
		"a policy was changed":       {func(l *Live) { l.Policies[0].Generation++ }, true},
		"a binding was made again":   {func(l *Live) { l.Bindings[0].UID = types.UID("another") }, true},
		"the record is gone":         {func(l *Live) { l.Record = nil }, true},
		"the record lacks a policy":  {func(l *Live) { delete(l.Record.Seen, "ValidatingAdmissionPolicy "+l.Policies[0].Name) }, true},
		"a policy is missing":        {func(l *Live) { l.Policies = l.Policies[1:] }, false},
		"a policy is being weakened": {func(l *Live) { l.Policies[0].Generation++; l.Policies[0].Spec.Validations = nil }, false},
	} {
		s := shipped(t, "statecraft-system")
		is := live(s)
		keep(t, s, &is, time.Hour)
		tc.change(&is)
		if _, _, changed := s.Judge(is).Next(); changed != tc.want {
			t.Errorf("%s: replaced is %v", name, changed)
		}
	}
}
