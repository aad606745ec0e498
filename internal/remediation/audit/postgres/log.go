package postgres

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/statecraft-dev/statecraft/internal/remediation/audit"
)

const (
	// within is how long one request may take: passes wait for it.
	within = 2 * time.Second
	// connections are at most so many of one manager. Appending takes turns anyway.
	connections = 4
)

// Log appends records to a chain, and finds them again.
type Log struct {
	pool *pgxpool.Pool
	keys func() (audit.Keys, error)
}

// Open makes a log of the database that a file names by a connection string, with the keys of another file. Both files
// are read again when they are needed, so a new password or key needs no restart. Nothing is asked of the database yet.
func Open(dsnFile, keyFile string) (*Log, error) {
	keys := func() (audit.Keys, error) { return ReadKeys(keyFile) }
	if _, err := keys(); err != nil {
		return nil, err
	}
	config, err := readConfig(dsnFile)
	if err != nil {
		return nil, err
	}
	config.MaxConns = connections
	config.BeforeConnect = func(_ context.Context, connection *pgx.ConnConfig) error {
		now, err := readConfig(dsnFile)
		if err != nil {
			return err
		}
		*connection = *now.ConnConfig
		return nil
	}
	pool, err := pgxpool.NewWithConfig(context.Background(), config) // of the connections, until Close
	if err != nil {
		return nil, fmt.Errorf("prepare connections to the audit database: %w", err)
	}
	return &Log{pool: pool, keys: keys}, nil
}

// Close ends all connections.
func (l *Log) Close() { l.pool.Close() }

func readConfig(file string) (*pgxpool.Config, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read the connection string of the audit database: %w", err)
	}
	config, err := pgxpool.ParseConfig(strings.TrimSpace(string(text)))
	if err != nil { // its words have the connection string without the password
		return nil, fmt.Errorf("read the connection string in %s: %w", file, err)
	}
	config.ConnConfig.ConnectTimeout = within
	return config, nil
}

// ReadKeys reads a file of keys.
func ReadKeys(file string) (audit.Keys, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return audit.Keys{}, fmt.Errorf("read the audit keys: %w", err)
	}
	keys, err := audit.ParseKeys(string(text))
	if err != nil {
		return audit.Keys{}, fmt.Errorf("read the audit keys in %s: %w", file, err)
	}
	return keys, nil
}
