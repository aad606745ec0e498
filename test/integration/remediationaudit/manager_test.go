package remediationaudit

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/plugin"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/servers/postgres"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

func held(x *remediationv1.KubernetesExecution) bool     { return x.Status.Reason == "AuditUnavailable" }
func released(x *remediationv1.KubernetesExecution) bool { return x.Status.ReleasedAt != nil }
func over(x *remediationv1.KubernetesExecution) bool     { return x.Status.Phase == "completed" }

// TestNothingIsDoneWithoutARecord: while the database that must record is away no Job is made; an execution whose Job runs ends
// as it should, and its outcome is recorded later. An auditor sees that all is well, and then that it is not.
func TestNothingIsDoneWithoutARecord(t *testing.T) {
	s := newStage(t)
	s.Stop()
	s.manage(true)
	s.ask("restart")
	x := s.until("restart", "held", held)
	if jobs := s.jobs(); len(jobs) > 0 || !strings.Contains(x.Status.WaitingFor, "the audit database cannot be reached") {
		t.Errorf("%d Jobs, waiting for %q", len(jobs), x.Status.WaitingFor)
	}
	s.Up()
	x = s.until("restart", "released", released)
	if x.Status.Audit == nil || x.Status.Audit.Seq != 1 || x.Status.Audit.Hash == "" {
		t.Errorf("released with the record %+v", x.Status.Audit)
	}
	s.Stop()
	s.succeed(x)
	s.until("restart", "completed", over)
	s.Up()
	s.audited("intent", "outcome")
	if code, text := s.verifies(); code != plugin.AsWished {
		t.Errorf("%d: %s", code, text)
	}
	s.exec(postgres.Administrator, withoutTriggers+`UPDATE statecraft.audit_record SET body = replace(body, '"Applied"', '"None"') WHERE seq = 2`)
	if code, text := s.verifies(); code != plugin.NotAsWished || !strings.Contains(text, "record 2 was edited") {
		t.Errorf("%d: %s", code, text)
	}
}

// TestARecordThatIsNotRequired: the execution goes on and says so; what is missing is recorded once the database answers.
func TestARecordThatIsNotRequired(t *testing.T) {
	s := newStage(t)
	s.Stop()
	s.manage(false)
	s.ask("restart")
	x := s.until("restart", "released", released)
	if a := x.Status.Audit; a == nil || a.Seq != 0 || !strings.Contains(a.Message, "was not recorded before the Job was released") {
		t.Errorf("%+v", a)
	}
	s.Up()
	s.succeed(x)
	s.until("restart", "completed", over)
	s.audited("intent", "outcome")
	if code, text := s.verifies(); code != plugin.AsWished {
		t.Errorf("%d: %s", code, text)
	}
}

// audited waits until the database has records of these kinds, and no others.
func (s *stage) audited(kinds ...string) {
	s.Helper()
	want := fmt.Sprint(kinds)
	c := s.Connect(reader)
	harness.Eventually(s.T, timeout.Wait, poll, func() error {
		var found string
		err := c.QueryRow(s.Context(), `SELECT coalesce(string_agg(split_part(key, '/', 2), ' ' ORDER BY seq), '') FROM statecraft.audit_record`).Scan(&found)
		if is := "[" + found + "]"; err != nil || is != want {
			return fmt.Errorf("recorded %s, want %s: %w", is, want, err)
		}
		return nil
	})
}

// verifies is what an auditor is told, who asks again if the database does not answer in time.
func (s *stage) verifies() (code int, text string) {
	s.Helper()
	harness.Eventually(s.T, timeout.Wait, poll, func() error {
		var out bytes.Buffer
		code = plugin.Run(s.Context(), []string{"audit", "verify", "--kubeconfig=" + s.bed.Kubeconfig(), "--dsn-file=" + s.readerFile, "--key-file=" + s.keyFile}, &out, &out)
		if text = out.String(); code == plugin.CouldNotLook {
			return errors.New(text)
		}
		return nil
	})
	return code, text
}
