package remediationaudit

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5/pgconn"
	"k8s.io/apimachinery/pkg/types"

	"github.com/statecraft-dev/statecraft/internal/remediation/audit"
	auditpostgres "github.com/statecraft-dev/statecraft/internal/remediation/audit/postgres"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/servers/postgres"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

func uid(i int) types.UID { return types.UID(fmt.Sprint("x", i)) }

// TestNobodyButTheAdministratorChangesARecord: neither the manager nor an auditor, by any statement; and the administrator not
// by mistake.
func TestNobodyButTheAdministratorChangesARecord(t *testing.T) {
	d := newDatabase(t)
	d.append(d.open(), audit.IntentKey("x1"))
	for _, role := range []string{writer, reader, postgres.Administrator} {
		c := d.Connect(role)
		for _, statement := range []string{
			"UPDATE statecraft.audit_record SET body = 'x'", "DELETE FROM statecraft.audit_record", "TRUNCATE statecraft.audit_record",
		} {
			var refused *pgconn.PgError
			if _, err := c.Exec(t.Context(), statement); !errors.As(err, &refused) || refused.Code != "42501" {
				t.Errorf("%s: %s: %v", role, statement, err)
			}
		}
	}
	for role, statements := range map[string][]string{
		writer: {
			"DROP TABLE statecraft.audit_record", "ALTER TABLE statecraft.audit_record DISABLE TRIGGER append_only", "CREATE TABLE statecraft.other ()",
			"DROP TRIGGER append_only ON statecraft.audit_record", "SET session_replication_role = replica",
			"INSERT INTO statecraft.audit_record (chain, seq, key, key_id, body, prev, hash, recorded_at) VALUES ('c', 1, 'k', 'i', 'b', repeat('0', 64), repeat('0', 64), now())",
		},
		reader: {"INSERT INTO statecraft.audit_record (chain, seq, key, key_id, body, prev, hash) VALUES ('c', 1, 'k', 'i', 'b', repeat('0', 64), repeat('0', 64))"},
	} {
		c := d.Connect(role)
		for _, statement := range statements {
			if _, err := c.Exec(t.Context(), statement); err == nil {
				t.Errorf("%s may %s", role, statement)
			}
		}
	}
}

// TestWhatAnAdministratorChangesIsFound: he can get round the triggers, and the hashes show it.
func TestWhatAnAdministratorChangesIsFound(t *testing.T) {
	const forged = `INSERT INTO statecraft.audit_record (chain, seq, key, key_id, body, prev, hash)
		SELECT chain, seq + 1, 'x9/outcome/1', key_id, '{}', hash, repeat('f', 64) FROM statecraft.audit_record ORDER BY seq DESC LIMIT 1`
	d := newDatabase(t)
	for name, tc := range map[string]struct {
		statement string
		want      []string
	}{
		"nothing":        {"SELECT 1", nil},
		"an edited body": {`UPDATE statecraft.audit_record SET body = '{"by":"somebody else"}' WHERE seq = 3`, []string{"Altered 3"}},
		"an edited hash": {`UPDATE statecraft.audit_record SET hash = repeat('0', 64) WHERE seq = 3`, []string{"Altered 3", "Replaced 3"}},
		"a deleted row":  {`DELETE FROM statecraft.audit_record WHERE seq = 4`, []string{"Deleted 4", "NoOutcome 0"}},
		"a cut tail":     {`DELETE FROM statecraft.audit_record WHERE seq > 4`, []string{"CutOff 5", "NoOutcome 0"}},
		"a forged row":   {forged, []string{"Altered 7"}},
		"no outcome":     {`DELETE FROM statecraft.audit_record WHERE seq = 6`, []string{"NoOutcome 0"}},
	} {
		t.Run(name, func(*testing.T) {
			d.exec(postgres.Administrator, withoutTriggers+"TRUNCATE statecraft.audit_record")
			cluster := d.history()
			d.exec(postgres.Administrator, withoutTriggers+tc.statement)
			var found []string
			for _, f := range d.verify(cluster...).Findings {
				found = append(found, fmt.Sprint(f.Fault, " ", f.Seq))
			}
			if diff := cmp.Diff(tc.want, found); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		})
	}
}

// withoutTriggers is what an administrator can do, and nobody else.
const withoutTriggers = "SET session_replication_role = replica; "

// history records three executions, and is what their cluster says of them.
func (d *database) history() (cluster []audit.Execution) {
	d.Helper()
	l := d.open()
	for i := range 3 {
		intent := d.append(l, audit.IntentKey(uid(i)))
		d.append(l, audit.OutcomeKey(uid(i)))
		cluster = append(cluster, audit.Execution{
			Namespace: "shop", Name: fmt.Sprint("more-", i), UID: uid(i), Seq: intent.Seq, Hash: intent.Hash, Ended: time.Now().Add(-time.Hour),
		})
	}
	return cluster
}

// append appends a record, and asks again if the database was too slow for one request: that is how the manager does it.
func (d *database) append(l *auditpostgres.Log, key string) (r audit.Record) {
	d.Helper()
	harness.Eventually(d.T, timeout.Wait, poll, func() (err error) {
		r, err = l.Append(d.Context(), chain, key, "{}")
		return err
	})
	return r
}

// TestAForgedRecordIsNotTakenForOurs: whoever may append, and has no key, takes the place of a record before we do.
func TestAForgedRecordIsNotTakenForOurs(t *testing.T) {
	d := newDatabase(t)
	l := d.open()
	d.exec(writer, `INSERT INTO statecraft.audit_record (chain, seq, key, key_id, body, prev, hash) VALUES ('`+chain+`', 1, 'x1/intent/1', '2026', '{}', repeat('0', 64), repeat('f', 64))`)
	if _, err := l.Append(t.Context(), chain, audit.IntentKey("x1"), "{}"); err == nil || !strings.Contains(err.Error(), "kubectl statecraft audit verify") {
		t.Errorf("%v", err)
	}
	if _, is, err := l.Find(t.Context(), chain, audit.IntentKey("x1")); is || err == nil {
		t.Errorf("found: %t, %v", is, err)
	}
}

// TestANewKeyNeedsNoRestart: a line is added to the file, and what was signed before stays valid.
func TestANewKeyNeedsNoRestart(t *testing.T) {
	d := newDatabase(t)
	l := d.open()
	d.append(l, audit.IntentKey("x1"))
	d.writeKeys(keyLine("2026", "k") + keyLine("2027", "l"))
	r := d.append(l, audit.IntentKey("x2"))
	if report := d.verify(); r.KeyID != "2027" || report.Records != 2 || len(report.Findings) > 0 {
		t.Errorf("%+v, %+v", r, report)
	}
}

// TestErrorsSayTheNextStep: what a person must do who installs it.
func TestErrorsSayTheNextStep(t *testing.T) {
	d := newDatabase(t)
	l := d.open()
	for statement, says := range map[string]string{
		"REVOKE INSERT (chain, seq, key, key_id, body, prev, hash) ON statecraft.audit_record FROM statecraft_audit_writer": "must grant it statecraft_audit_writer",
		"DROP TABLE statecraft.audit_record": "kubectl statecraft audit schema",
	} {
		d.exec(postgres.Administrator, statement)
		if _, err := l.Append(t.Context(), chain, audit.IntentKey("x1"), "{}"); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v", err)
		}
		d.exec(postgres.Administrator, auditpostgres.Schema)
	}
}
