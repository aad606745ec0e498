package postgres

import (
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/statecraft-dev/statecraft/test/timeout"
)

// poll is how often a server is asked whether it is up.
const poll = 50 * time.Millisecond

// answers waits until the server answers a query.
func (s *Server) answers() {
	s.t.Helper()
	over := time.After(timeout.Wait)
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for {
		c, err := pgx.Connect(s.t.Context(), s.DSN(Administrator))
		if err == nil {
			s.must(c.Close(s.t.Context()))
			return
		}
		select {
		case <-over:
			s.must(errors.Join(errors.New("PostgreSQL does not answer"), err))
		case <-tick.C:
		}
	}
}
