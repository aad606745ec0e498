package postgres

import (
	"errors"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/statecraft-dev/statecraft/internal/remediation/audit"
)

// Trouble is why the database does not do what it was asked, in words that are the same at every try.
type Trouble struct {
	// Why completes "The audit database": what is wrong, and what a person can do about it.
	Why string
	Err error
}

// Error implements error.
func (t *Trouble) Error() string { return "the audit database " + t.Why + ": " + t.Err.Error() }

func (t *Trouble) Unwrap() error { return t.Err }

// Says is the trouble in words for the status of an object.
func (t *Trouble) Says() string { return "the audit database " + t.Why }

// troubled adds to an error what a person can do about it.
func troubled(err error) error {
	if err == nil {
		return nil
	}
	return &Trouble{Why: why(err), Err: err}
}

func why(err error) string {
	const undefinedTable, insufficientPrivilege, wrongPassword, wrongLogin = "42P01", "42501", "28P01", "28000"
	var refused *pgconn.PgError
	switch {
	case errors.Is(err, audit.ErrForged):
		return "has a record that was edited, or written by somebody without the key: run kubectl statecraft audit verify"
	case !errors.As(err, &refused):
		return "cannot be reached or does not answer in time; the log of the manager says more"
	case refused.Code == undefinedTable:
		return "has no table for audit records: an administrator of the database must apply the output of kubectl statecraft audit schema"
	case refused.Code == insufficientPrivilege:
		return "does not let the role of the connection do that: an administrator of the database must grant it statecraft_audit_writer, to verify statecraft_audit_reader"
	case refused.Code == wrongPassword, refused.Code == wrongLogin:
		return "does not let the manager log on: correct the connection string in its Secret"
	}
	return "refuses to answer; the log of the manager says more"
}
