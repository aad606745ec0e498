package postgres

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/statecraft-dev/statecraft/internal/remediation/audit"
)

// fake counts what it is asked.
type fake struct {
	asked int
	err   error
}

func (f *fake) Find(context.Context, string, string) (audit.Record, bool, error) {
	f.asked++
	return audit.Record{}, false, f.err
}

func (f *fake) Append(context.Context, string, string, string) (audit.Record, error) {
	f.asked++
	return audit.Record{}, f.err
}

func (f *fake) Has(context.Context, string, []string) (map[string]bool, error) {
	f.asked++
	return nil, f.err
}

// TestADatabaseThatFailsIsAskedByOne: passes that all wait for it must not wait for their time to be over one after another.
func TestADatabaseThatFailsIsAskedByOne(t *testing.T) {
	f, now := &fake{err: errors.New("no route")}, time.Unix(1_700_000_000, 0)
	c := &Chain{Log: f, Name: func(context.Context) (string, error) { return "c1", nil }, Now: func() time.Time { return now }}
	ask := func() error {
		_, _, found := c.Find(t.Context(), "x/intent/1")
		_, appended := c.Append(t.Context(), "x/intent/1", "{}")
		_, has := c.Has(t.Context(), []string{"x/intent/1"})
		return errors.Join(found, appended, has)
	}
	if err := ask(); !errors.Is(err, f.err) || f.asked != 1 {
		t.Errorf("asked %d times: %v", f.asked, err)
	}
	now, f.err = now.Add(again), nil
	if err := ask(); err != nil || f.asked != 4 {
		t.Errorf("asked %d times: %v", f.asked, err)
	}
}

// TestAnAskerWithoutTimeSaysNothing: that one pass ended in the middle is no trouble of the database.
func TestAnAskerWithoutTimeSaysNothing(t *testing.T) {
	f := &fake{err: context.Canceled}
	c := &Chain{Log: f, Name: func(context.Context) (string, error) { return "c1", nil }, Now: time.Now}
	gone, leave := context.WithCancel(t.Context())
	leave()
	_, _, _ = c.Find(gone, "x/intent/1")
	f.err = nil
	if _, _, err := c.Find(t.Context(), "x/intent/1"); err != nil {
		t.Error(err)
	}
}

// TestAChainIsNamedByTheCluster: a name that could not be found out is looked for again, at once.
func TestAChainIsNamedByTheCluster(t *testing.T) {
	f, looked := &fake{}, 0
	c := &Chain{Log: f, Now: time.Now, Name: func(context.Context) (string, error) {
		if looked++; looked == 1 {
			return "", errors.New("the API server is away")
		}
		return "c1", nil
	}}
	if _, _, err := c.Find(t.Context(), "x/intent/1"); err == nil {
		t.Error("found in a chain without a name")
	}
	for range 2 {
		if _, _, err := c.Find(t.Context(), "x/intent/1"); err != nil {
			t.Error(err)
		}
	}
	if looked != 2 || f.asked != 2 {
		t.Errorf("looked %d times, asked %d times", looked, f.asked)
	}
}

// TestTroubleIsTheSameAtEveryTry: the words go into the status, and the port of a connection must not.
func TestTroubleIsTheSameAtEveryTry(t *testing.T) {
	one, other := &Trouble{}, &Trouble{}
	if !errors.As(troubled(errors.New("read tcp 127.0.0.1:40001: reset")), &one) || !errors.As(troubled(errors.New("read tcp 127.0.0.1:40002: reset")), &other) {
		t.Fatal("not told as trouble")
	}
	if one.Says() != other.Says() || one.Error() == other.Error() {
		t.Errorf("%q, %q", one.Says(), other.Says())
	}
}
