package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/statecraft-dev/statecraft/internal/remediation/audit"
)

// turns is how often an append is tried that another writer forestalled.
const turns = 3

// Append adds a record to a chain, unless the chain has one of this key: then it returns that one. So an append whose
// answer was lost is simply repeated.
func (l *Log) Append(ctx context.Context, chain, key, body string) (r audit.Record, err error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	keys, err := l.keys()
	if err != nil {
		return r, err
	}
	for range turns {
		r, err = l.append(ctx, keys, chain, audit.Record{Key: key, Body: body})
		if !isTaken(err) {
			break
		}
	}
	return r, troubled(err)
}

func (l *Log) append(ctx context.Context, keys audit.Keys, chain string, wanted audit.Record) (r audit.Record, err error) {
	// The isolation is named: above it, every statement of the transaction would see what was there before the lock.
	err = pgx.BeginTxFunc(ctx, l.pool, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) error {
		if err := lock(ctx, tx, chain); err != nil {
			return err
		}
		found, is, err := find(ctx, tx, keys, chain, wanted.Key)
		if err != nil || is {
			r = found
			return err
		}
		last, err := end(ctx, tx, chain)
		if err != nil {
			return err
		}
		r = keys.Next(chain, last, wanted.Key, wanted.Body)
		_, err = tx.Exec(ctx, `INSERT INTO statecraft.audit_record (chain, seq, key, key_id, body, prev, hash) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
			r.Chain, r.Seq, r.Key, r.KeyID, r.Body, r.Prev, r.Hash)
		return err
	})
	return r, err
}

// lock lets one writer at a time continue a chain. A writer that vanishes in between must not keep the others for
// longer than they wait, and a commit that was answered must outlive a crash of the server.
func lock(ctx context.Context, tx pgx.Tx, chain string) error {
	_, err := tx.Exec(ctx, `SELECT set_config('idle_in_transaction_session_timeout', '2s', true), set_config('lock_timeout', '2s', true),
		CASE WHEN current_setting('synchronous_commit') = 'off' THEN set_config('synchronous_commit', 'local', true) END`)
	if err != nil {
		return err
	}
	// NOTE: What reads the end of the chain is another statement: this one still sees what was there when it began to wait.
	_, err = tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended('statecraft.audit.' || $1, 0))`, chain)
	return err
}

// end is the last record of a chain.
func end(ctx context.Context, tx pgx.Tx, chain string) (last audit.Last, err error) {
	err = tx.QueryRow(ctx, `SELECT seq, hash FROM statecraft.audit_record WHERE chain = $1 ORDER BY seq DESC LIMIT 1`, chain).Scan(&last.Seq, &last.Hash)
	if errors.Is(err, pgx.ErrNoRows) {
		return audit.Last{}, nil
	}
	return last, err
}

// isTaken says that another writer had the number, or the key, first: one that does not take the lock.
func isTaken(err error) bool {
	const uniqueViolation = "23505"
	var refused *pgconn.PgError
	return errors.As(err, &refused) && refused.Code == uniqueViolation
}
