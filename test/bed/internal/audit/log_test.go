package audit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/statecraft-dev/statecraft/test/timeout"
)

const (
	moment  = "2030-01-01T00:00:00.000001Z"
	patient = timeout.Wait
)

func line(stage, id, extra string) string { return logged("create", stage, id, extra) }

func of(verb, stage, extra string) string { return logged(verb, stage, "other", extra) }

func logged(verb, stage, id, extra string) string {
	return fmt.Sprintf(`{"auditID":%q,"stage":%q,"verb":%q,"user":{"username":"u"},"requestReceivedTimestamp":%q%s}`+"\n",
		id, stage, verb, moment, extra)
}

func newLog(t *testing.T, content string) (*Log, func(string)) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "audit.log")
	add := func(text string) {
		file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = file.Close() }()
		if _, err := file.WriteString(text); err != nil {
			t.Error(err)
		}
	}
	add(content)
	return Open(path), add
}

func TestOnlyAnsweredWritesThatAreStoredCount(t *testing.T) {
	for what, test := range map[string]struct {
		log  string
		want int
	}{
		"an empty log":                         {want: 0},
		"an answered write":                    {log: line("RequestReceived", "a", "") + line("ResponseComplete", "a", ""), want: 1},
		"a request that panicked":              {log: line("RequestReceived", "a", "") + line("Panic", "a", ""), want: 0},
		"a dry run by query":                   {log: line("ResponseComplete", "a", `,"requestURI":"/x?dryRun=All"`), want: 0},
		"a dry run in the options of a delete": {log: line("ResponseComplete", "a", `,"requestObject":{"dryRun":["All"]}`), want: 0},
		"a watch that has begun":               {log: of("watch", "ResponseStarted", ""), want: 0},
		"a read":                               {log: of("get", "ResponseComplete", ""), want: 0},
		"an access review":                     {log: of("create", "ResponseComplete", `,"objectRef":{"apiGroup":"authorization.k8s.io"}`), want: 0},
		"a line that is still being written":   {log: line("ResponseComplete", "a", "") + `{"auditID":"b"`, want: 1},
	} {
		t.Run(what, func(t *testing.T) {
			log, _ := newLog(t, test.log)
			writes, err := log.Writes(t.Context(), time.Time{})
			if err != nil {
				t.Fatal(err)
			}
			if len(writes) != test.want {
				t.Errorf("%d writes, want %d: %+v", len(writes), test.want, writes)
			}
		})
	}
}

func TestAWriteUnderWayIsWaitedFor(t *testing.T) {
	log, add := newLog(t, line("RequestReceived", "a", ""))
	ctx, cancel := context.WithTimeout(t.Context(), pollEvery)
	defer cancel()
	if _, err := log.Writes(ctx, time.Time{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("a write without an answer was not waited for: %v", err)
	}
	time.AfterFunc(2*pollEvery, func() { add(line("ResponseComplete", "a", "")) })
	ctx, cancel = context.WithTimeout(t.Context(), patient)
	defer cancel()
	writes, err := log.Writes(ctx, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	if len(writes) != 1 {
		t.Errorf("%d writes, want the one that was under way", len(writes))
	}
}

// A watch has no end to wait for.
func TestAReadUnderWayIsNotWaitedFor(t *testing.T) {
	log, _ := newLog(t, of("watch", "RequestReceived", "")+line("ResponseComplete", "a", ""))
	writes, err := log.Writes(t.Context(), time.Time{})
	if err != nil || len(writes) != 1 {
		t.Errorf("%d writes, %v; want the one that was logged", len(writes), err)
	}
}

func TestWritesAreThoseFromTheMomentOn(t *testing.T) {
	at, err := time.Parse(time.RFC3339Nano, moment)
	if err != nil {
		t.Fatal(err)
	}
	log, _ := newLog(t, line("ResponseComplete", "a", ""))
	got := map[string]int{}
	for what, since := range map[string]time.Time{
		"just before":            at.Add(-time.Microsecond),
		"within the microsecond": at.Add(500 * time.Nanosecond),
		"just after":             at.Add(time.Microsecond),
	} {
		writes, err := log.Writes(t.Context(), since)
		if err != nil {
			t.Fatal(err)
		}
		got[what] = len(writes)
	}
	want := map[string]int{"just before": 1, "within the microsecond": 1, "just after": 0}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("writes since (-want +got):\n%s", diff)
	}
}
