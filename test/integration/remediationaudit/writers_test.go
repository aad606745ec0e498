package remediationaudit

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/statecraft-dev/statecraft/internal/remediation/audit"
	auditpostgres "github.com/statecraft-dev/statecraft/internal/remediation/audit/postgres"
	"github.com/statecraft-dev/statecraft/test/harness"
)

const (
	records  = 2000
	restarts = 3
)

// TestTwoWritersAndThreeCrashes: two managers append the same records, each of them until it is told that it is there, while the
// database crashes three times. Each record is there once, and the chain has no gap.
func TestTwoWritersAndThreeCrashes(t *testing.T) {
	d := newDatabase(t)
	var made, failed atomic.Int64
	var group sync.WaitGroup
	seen := [2][records]int64{} // the number that each was told
	for w, l := range []*auditpostgres.Log{d.open(), d.open()} {
		group.Go(func() {
			for i := range records {
				key := audit.OutcomeKey(uid(i))
				for {
					r, err := l.Append(t.Context(), chain, key, fmt.Sprintf(`{"n":%d}`, i))
					if err == nil {
						seen[w][i] = r.Seq
						break
					}
					if failed.Add(1); t.Context().Err() != nil {
						return
					}
				}
				made.Add(1)
			}
		})
	}
	began := time.Now()
	for i := range restarts {
		harness.Eventually(t, time.Minute, 10*time.Millisecond, func() error {
			if n := made.Load(); n < int64((i+1)*records/2) {
				return fmt.Errorf("%d records are made", n)
			}
			return nil
		})
		d.Stop()
		d.Up()
	}
	group.Wait()
	report := d.verify()
	if report.Records != records || len(report.Findings) > 0 {
		t.Errorf("%d records: %+v", report.Records, report.Findings)
	}
	if seen[0] != seen[1] {
		t.Error("the writers were told of different records")
	}
	harness.Row(t, "%d audit records by two writers and %d crashes, %.0f a second, %d appends repeated", records, restarts, records/time.Since(began).Seconds(), failed.Load())
}

// TestALostCommitIsFoundAgain: the answer to a commit is lost, so nobody knows whether it happened. The next try says.
func TestALostCommitIsFoundAgain(t *testing.T) {
	d := newDatabase(t)
	l := d.open()
	first := d.append(l, audit.IntentKey("x1"))
	d.Stop()
	if _, err := l.Append(t.Context(), chain, audit.IntentKey("x2"), "{}"); err == nil {
		t.Error("a database that is down took a record")
	}
	d.Up()
	if again := d.append(l, audit.IntentKey("x1")); again != first {
		t.Errorf("%+v, and before %+v", again, first)
	}
}

// TestAWriterWithoutTheLockMakesNoSecondChain: the primary key has the last word. A writer that was forestalled goes on after
// the other's record.
func TestAWriterWithoutTheLockMakesNoSecondChain(t *testing.T) {
	d := newDatabase(t)
	l, other := d.open(), d.Connect(writer)
	last := audit.Last{}
	for i := range 50 {
		rude := d.keys().Next(chain, last, audit.IntentKey(uid(i)), "{}")
		var group sync.WaitGroup
		group.Go(func() {
			_, _ = other.Exec(t.Context(), `INSERT INTO statecraft.audit_record (chain, seq, key, key_id, body, prev, hash) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
				rude.Chain, rude.Seq, rude.Key, rude.KeyID, rude.Body, rude.Prev, rude.Hash) // or it was forestalled itself
		})
		d.append(l, audit.OutcomeKey(uid(i)))
		group.Wait()
		report := d.verify()
		if len(report.Findings) > 0 {
			t.Fatalf("%+v", report.Findings)
		}
		last = audit.Last{Seq: report.Records, Hash: report.Last}
	}
}
