package wire

import (
	"errors"
	"slices"
	"testing"
)

// A primary outranks all others only where that takes nothing from anybody.
func TestAnEpochIsRaisedWithCare(t *testing.T) {
	const (
		owns  = "master - 0 0 1 connected 0-5460"
		waits = "# Clients\r\npaused_reason:failover_in_progress\r\n"
		free  = "# Clients\r\npaused_reason:none\r\n"
		job   = "*1\r\n*12\r\n+source_node\r\n+" + ida + "\r\n+target_node\r\n+" + idb + "\r\n+name\r\n+j\r\n+operation\r\n+EXPORT\r\n+slot_ranges\r\n+0-1\r\n+state\r\n+replicating\r\n"
	)
	for name, c := range map[string]struct {
		self, clients, jobs string
		above               int64
		told                bool
		err                 error
	}{
		"of an owner":                            {self: owns, clients: free, above: 1, told: true},
		"of one that is above already":           {self: owns, clients: free, above: 0},
		"of one that is being replaced":          {self: owns, clients: waits, above: 1, err: ErrRefused},
		"of one that does not say so":            {self: owns, clients: "# Clients\r\n", above: 1, err: ErrRefused},
		"of a replica":                           {self: aReplica, clients: free, above: 2, err: ErrRefused},
		"of one without slots":                   {self: aBlank, clients: free, above: 1, told: true},
		"while slots go key by key":              {self: anOwner, clients: free, above: 1, err: ErrRefused},
		"while slots go as a whole":              {self: owns, clients: free, above: 1, jobs: job, err: ErrRefused},
		"of one whose jobs cannot be understood": {self: owns, clients: free, above: 1, jobs: "+what\r\n", err: ErrMalformed},
	} {
		t.Run(name, func(t *testing.T) {
			answers := three(c.self)
			answers["INFO clients"], answers["CLUSTER BUMPEPOCH"] = bulk(c.clients), "+BUMPED 4\r\n"
			if c.jobs != "" {
				answers["CLUSTER GETSLOTMIGRATIONS"] = c.jobs
			}
			s, client := newStub(t, answers), patient()
			defer client.Close()
			if err := client.RaiseEpoch(t.Context(), Target{Addr: s.Addr().String(), ID: ida}, c.above); !errors.Is(err, c.err) {
				t.Errorf("error %v", err)
			}
			if told := slices.Contains(s.told(), "CLUSTER BUMPEPOCH"); told != c.told {
				t.Errorf("told: %t", told)
			}
		})
	}
}
