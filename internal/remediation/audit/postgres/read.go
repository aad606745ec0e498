package postgres

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/statecraft-dev/statecraft/internal/remediation/audit"
)

// Read hands over all records of a chain in the order of their numbers, as they are at one moment. It can write nothing.
func Read(ctx context.Context, dsnFile, chain string, next func(audit.Record)) (err error) {
	text, err := os.ReadFile(dsnFile)
	if err != nil {
		return fmt.Errorf("read the connection string of the audit database: %w", err)
	}
	connection, err := pgx.Connect(ctx, strings.TrimSpace(string(text)))
	if err != nil {
		return troubled(err)
	}
	defer func() { err = errors.Join(err, connection.Close(context.WithoutCancel(ctx))) }()
	as := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	return pgx.BeginTxFunc(ctx, connection, as, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, `SELECT `+columns+` FROM statecraft.audit_record WHERE chain = $1 ORDER BY seq`, chain)
		if err != nil {
			return troubled(err)
		}
		var r audit.Record
		fields := []any{&r.Chain, &r.Seq, &r.Key, &r.KeyID, &r.Body, &r.Prev, &r.Hash}
		_, err = pgx.ForEachRow(rows, fields, func() error {
			next(r)
			return nil
		})
		return troubled(err)
	})
}
