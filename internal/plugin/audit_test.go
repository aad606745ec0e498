package plugin

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/statecraft-dev/statecraft/internal/remediation/audit"
)

// TestAuditText: what an auditor reads. The database may hold anything.
func TestAuditText(t *testing.T) {
	report := audit.Report{
		Chain: "c1", Records: 4, Anchors: 2,
		Findings: []audit.Finding{{Fault: audit.Altered, Seq: 3, Message: "record 3 was edited, or written by somebody without the key."}},
		Notes:    []string{"Record 4 is of \x1b[2Jnobody."},
	}
	want := `Altered    record 3 was edited, or written by somebody without the key.
Note       Record 4 is of \u001b[2Jnobody.
4 records of chain c1 were compared with their keys, and with 3 executions of the cluster, of which 2 name
the record of their intent. Faults: 1.
`
	if diff := cmp.Diff(want, auditText(report, 3)); diff != "" {
		t.Error(diff)
	}
	if text := auditText(audit.Report{Chain: "c1"}, 0); !strings.HasSuffix(text, "Nothing is wrong with them.\n") {
		t.Error(text)
	}
}

func TestAuditSchema(t *testing.T) {
	var out, problems bytes.Buffer
	if code := Run(t.Context(), []string{"audit", "schema"}, &out, &problems); code != AsWished || !strings.Contains(out.String(), "statecraft.audit_record") {
		t.Errorf("%d: %s%s", code, out.String(), problems.String())
	}
}

// TestAuditNeedsItsFiles: neither a connection string nor a key is an argument, which other users of the machine could read.
func TestAuditNeedsItsFiles(t *testing.T) {
	for _, args := range [][]string{{}, {"--dsn-file=dsn"}, {"--key-file=keys"}, {"--dsn-file=dsn", "--key-file=/there/is/none"}} {
		var out, problems bytes.Buffer
		if code := Run(t.Context(), append([]string{"audit", "verify"}, args...), &out, &problems); code != CouldNotLook || problems.Len() == 0 {
			t.Errorf("%q: %d, %s", args, code, problems.String())
		}
	}
}
