package audit

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

// Record is one link of a chain.
type Record struct {
	Chain string // the cluster
	Seq   int64  // from 1, without a gap
	Key   string // what it is about; a chain has each once
	KeyID string // of the key that its hash is made with
	Body  string // canonical JSON
	Prev  string // the hash of the record before it
	Hash  string
}

// Kind is what a record tells.
type Kind string

// The kinds of records.
const (
	Intent   Kind = "intent"   // what is about to be done, recorded before the Job is released
	Decision Kind = "decision" // what a person decided
	Outcome  Kind = "outcome"  // what an execution ended as
)

// First is the hash before the first record of a chain.
var First = strings.Repeat("0", hex.EncodedLen(sha256.Size))

// Key names the record of a kind about an execution; which tells several of a kind apart.
func Key(execution types.UID, kind Kind, which string) string {
	return string(execution) + "/" + string(kind) + "/" + which
}

// IntentKey is the key of the one intent that an execution has.
func IntentKey(execution types.UID) string { return Key(execution, Intent, "1") }

// OutcomeKey is the key of the one outcome that an execution has.
func OutcomeKey(execution types.UID) string { return Key(execution, Outcome, "1") }

// ErrForged says that a record is not ours: a role that may append, without the key, can take the place of a record before we do.
var ErrForged = errors.New("the hash is not that of the record")

// executionOf is the execution that a record of this key is about, and the kind of the record. A key with more parts is about
// none: a decision may quote any text as a UID, and must not pass for the outcome of another execution.
func executionOf(key string) (types.UID, Kind) {
	parts := strings.Split(key, "/")
	if len(parts) != 3 {
		return "", ""
	}
	return types.UID(parts[0]), Kind(parts[1])
}

// domain keeps a hash of this package from being one of another, made with the same key.
const domain = "statecraft.dev/audit/v1"

// sum is the hash that the record must have. Every field goes in with its length before it: otherwise the end of
// one could become the beginning of the next.
func (r Record) sum(key []byte) string {
	h := hmac.New(sha256.New, key)
	field := func(text string) {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(text))))
		h.Write([]byte(text))
	}
	field(domain)
	field(r.Chain)
	field(string(binary.BigEndian.AppendUint64(nil, uint64(r.Seq))))
	field(r.Key)
	field(r.KeyID)
	field(r.Body)
	field(r.Prev)
	return hex.EncodeToString(h.Sum(nil))
}
