package remediationaudit

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/statecraft-dev/statecraft/internal/remediation/audit"
	auditpostgres "github.com/statecraft-dev/statecraft/internal/remediation/audit/postgres"
	"github.com/statecraft-dev/statecraft/test/servers/postgres"
)

// chain is that of the cluster that there is not.
const chain = "a0000000-0000-4000-8000-000000000001"

const (
	writer = "manager" // what the chart's manager connects as
	reader = "auditor" // what a person connects as
)

// database is a PostgreSQL with the schema, and the files that lead to it.
type database struct {
	*testing.T
	*postgres.Server
	keyFile, writerFile, readerFile string
}

func newDatabase(t *testing.T) *database {
	t.Helper()
	d := &database{T: t, Server: postgres.Start(t)}
	d.exec(postgres.Administrator, auditpostgres.Schema, auditpostgres.Schema, // twice: it may be applied again
		"CREATE ROLE "+writer+" LOGIN IN ROLE statecraft_audit_writer", "CREATE ROLE "+reader+" LOGIN IN ROLE statecraft_audit_reader")
	d.keyFile = d.file("keys", keyLine("2026", "k"))
	d.writerFile, d.readerFile = d.file("dsn", d.DSN(writer)+"\n"), d.file("dsn-reader", d.DSN(reader))
	return d
}

func keyLine(id, letter string) string {
	return id + " " + base64.StdEncoding.EncodeToString([]byte(strings.Repeat(letter, 32))) + "\n"
}

func (d *database) must(err error) {
	d.Helper()
	if err != nil {
		d.Fatal(err)
	}
}

func (d *database) file(name, text string) string {
	d.Helper()
	path := filepath.Join(d.TempDir(), name)
	d.must(os.WriteFile(path, []byte(text), 0o600))
	return path
}

// exec runs statements as a role.
func (d *database) exec(role string, statements ...string) {
	d.Helper()
	c := d.Connect(role)
	for _, s := range statements {
		if _, err := c.Exec(d.Context(), s); err != nil {
			d.Fatalf("%.60s: %v", s, err)
		}
	}
}

// open is the log of one manager.
func (d *database) open() *auditpostgres.Log {
	d.Helper()
	l, err := auditpostgres.Open(d.writerFile, d.keyFile)
	d.must(err)
	d.Cleanup(l.Close)
	return l
}

func (d *database) keys() audit.Keys {
	d.Helper()
	keys, err := auditpostgres.ReadKeys(d.keyFile)
	d.must(err)
	return keys
}

// verify compares the chain with what a cluster says.
func (d *database) verify(executions ...audit.Execution) audit.Report {
	d.Helper()
	v := audit.Verifier{Chain: chain, Keys: d.keys(), Executions: executions, Now: time.Now()}
	v.Begin()
	d.must(auditpostgres.Read(d.Context(), d.readerFile, chain, v.Next))
	return v.End()
}

func (d *database) writeKeys(text string) {
	d.Helper()
	d.must(os.WriteFile(d.keyFile, []byte(text), 0o600))
}
