package valkeysecurity

import (
	"testing"

	"github.com/statecraft-dev/statecraft/test/harness/certs"
)

// serverName is what the certificates of all servers are for.
const serverName = "shop.default.svc"

// issue makes certificates for the servers, signed by one authority, that believe in some.
func issue(t testing.TB, by *certs.Authority, believed ...*certs.Authority) map[string]string {
	t.Helper()
	return by.Issue(t, serverName, believed...)
}
