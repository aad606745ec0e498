package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/statecraft-dev/statecraft/internal/remediation/audit"
)

const columns = `chain, seq, key, key_id, body, prev, hash`

// querier asks the database, in a transaction or without one.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// Find finds the record of a key.
func (l *Log) Find(ctx context.Context, chain, key string) (r audit.Record, is bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	keys, err := l.keys()
	if err != nil {
		return r, false, err
	}
	r, is, err = find(ctx, l.pool, keys, chain, key)
	return r, is, troubled(err)
}

func find(ctx context.Context, from querier, keys audit.Keys, chain, key string) (r audit.Record, is bool, err error) {
	rows, err := from.Query(ctx, `SELECT `+columns+` FROM statecraft.audit_record WHERE chain = $1 AND key = $2`, chain, key)
	if err != nil {
		return r, false, err
	}
	r, err = pgx.CollectOneRow(rows, pgx.RowToStructByPos[audit.Record])
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return r, false, nil
	case err != nil:
		return r, false, err
	case keys.Check(r) != "":
		return r, false, fmt.Errorf("record %d, %s: %w", r.Seq, r.Key, audit.ErrForged)
	}
	return r, true, nil
}

// Has says which of some keys have a record of ours in a chain.
func (l *Log) Has(ctx context.Context, chain string, keys []string) (has map[string]bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	known, err := l.keys()
	if err != nil {
		return nil, err
	}
	rows, err := l.pool.Query(ctx, `SELECT `+columns+` FROM statecraft.audit_record WHERE chain = $1 AND key = ANY($2)`, chain, keys)
	if err != nil {
		return nil, troubled(err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[audit.Record])
	has = map[string]bool{}
	for _, r := range found {
		has[r.Key] = known.Check(r) == ""
	}
	return has, troubled(err)
}
