package bed

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/statecraft-dev/statecraft/test/bed/internal/audit"
)

// AuditEnv names the environment variable with a folder, by its absolute path. If it is set, audit logs have what accounts
// read as well, and are written to that folder, where they stay when the bed is gone.
const AuditEnv = "STATECRAFT_AUDIT"

// auditing is what the API server logs of requests, and where.
type auditing struct{ log, policy string }

// newAuditing is that of a bed in a directory.
func newAuditing(dir string) (auditing, error) {
	folder := os.Getenv(AuditEnv)
	if folder == "" {
		return auditing{log: filepath.Join(dir, "audit.log"), policy: audit.Policy}, nil
	}
	if !filepath.IsAbs(folder) { // every test binary runs in a folder of its own
		return auditing{}, fmt.Errorf("%s is %s, and must be an absolute path", AuditEnv, folder)
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return auditing{}, fmt.Errorf("make folder of audit logs: %w", err)
	}
	name := filepath.Base(os.Args[0]) + "-" + filepath.Base(dir) + ".log"
	return auditing{log: filepath.Join(folder, name), policy: audit.PolicyWithReads}, nil
}
