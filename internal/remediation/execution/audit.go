package execution

import (
	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/presence"
)

// Audit is what is known of the record of the execution's intent in the audit database.
type Audit struct {
	// Wanted says that an audit database is configured, Required that nothing is released without a record.
	Wanted   bool `json:"wanted,omitempty"`
	Required bool `json:"required,omitempty"`
	// Sight is of the record: Unknown is a database that does not answer, and Why says what is wrong with it.
	Sight presence.State `json:"sight,omitempty"`
	Why   string         `json:"why,omitempty"` // completes a sentence
	// Seq and Hash are those of the record.
	Seq  int64  `json:"seq,omitempty"`
	Hash string `json:"hash,omitempty"`
}

// mustRecord says that it is not saved yet where the intent is recorded, or that it cannot be.
func mustRecord(in input) bool {
	a, saved := in.World.Audit, in.Obj.Status.Audit
	return a.Wanted && (saved == nil || saved.Seq == 0 && a.Required)
}

// recordIntent records what is about to be done, and saves where: the saved number and hash show later whether the
// record, and those before it, are still there.
func recordIntent(in input) fsm.Decision {
	const words = "What is about to be done is being recorded in the audit database."
	switch a := in.World.Audit; {
	case a.Sight == presence.Gone:
		return fsm.Do(ReasonRecordingIntent, RecordIntent{}).Because(words)
	case a.Sight == presence.Here, a.Sight == presence.Unknown && !a.Required:
		return fsm.Save(ReasonRecordingIntent).Because(words)
	}
	return fsm.Wait(ReasonAuditUnavailable, "gates").In(gatesEvery).Because("Waiting for the audit database, without which nothing is released.")
}

// record is where the intent is recorded, or why it is not.
func (a Audit) record() *remediationv1.IntentRecord {
	if a.Sight == presence.Here {
		return &remediationv1.IntentRecord{Seq: a.Seq, Hash: a.Hash}
	}
	return &remediationv1.IntentRecord{Message: fsm.Cut("The intent was not recorded before the Job was released: " + a.Why + ".")}
}
