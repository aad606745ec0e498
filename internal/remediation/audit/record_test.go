package audit

import (
	"encoding/base64"
	"strings"
	"testing"
)

// key is one of a test, made of one letter.
func key(letter string) string {
	return base64.StdEncoding.EncodeToString([]byte(strings.Repeat(letter, keyLength)))
}

func mustKeys(t *testing.T, text string) Keys {
	t.Helper()
	keys, err := ParseKeys(text)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

// TestEveryFieldIsHashed: whatever of a record is changed, its hash is another; text that moves from one field to the next
// is a change as well.
func TestEveryFieldIsHashed(t *testing.T) {
	keys := mustKeys(t, "a "+key("a")+"\n")
	good := keys.Next("c1", Last{Seq: 6, Hash: strings.Repeat("1", 64)}, "x/intent/1", `{"a":1}`)
	if fault := keys.Check(good); fault != "" {
		t.Fatalf("a record of ours is %s", fault)
	}
	for name, change := range map[string]func(*Record){
		"the chain":                  func(r *Record) { r.Chain = "c2" },
		"the number":                 func(r *Record) { r.Seq++ },
		"the key":                    func(r *Record) { r.Key = "y/intent/1" },
		"the body":                   func(r *Record) { r.Body = `{"a":2}` },
		"the hash before":            func(r *Record) { r.Prev = First },
		"the hash":                   func(r *Record) { r.Hash = First },
		"a letter between two":       func(r *Record) { r.Key, r.KeyID = r.Key[:len(r.Key)-1], "1a" },
		"a letter of the chain away": func(r *Record) { r.Chain, r.Key = "c", "1"+r.Key },
	} {
		changed := good
		change(&changed)
		if keys.Check(changed) == "" {
			t.Errorf("%s was changed, and nothing shows", name)
		}
	}
}

func TestKeys(t *testing.T) {
	for name, tc := range map[string]struct{ text, says string }{
		"one":                         {"a " + key("a"), ""},
		"comments and empty lines":    {"# of 2026\n\na " + key("a") + "\n", ""},
		"none":                        {"# none\n", "it has no key; add a line: an id, a space, and 32 random bytes as base64"},
		"an id alone":                 {"a\n", "line 1: write an id, a space and the key as base64"},
		"one that is no base64":       {"a ?\n", "line 1: the key is not base64"},
		"one that is short":           {"a c2hvcnQ=\n", "line 1: the key has 5 bytes; make one of at least 32"},
		"two of one id":               {"a " + key("a") + "\na " + key("b"), `line 2: the id "a" is there already; give the new key another`},
		"a password by mistake":       {"hunter2 is my password\n", "line 1: write an id, a space and the key as base64"},
		"an id with words behind it,": {"a " + key("a") + " old\n", "line 1: write an id, a space and the key as base64"},
	} {
		_, err := ParseKeys(tc.text)
		if said := text(err); said != tc.says {
			t.Errorf("%s: %q", name, said)
		}
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestTheLastKeySigns: a new key is added below the old one, which still proves what it has signed.
func TestTheLastKeySigns(t *testing.T) {
	old, both := mustKeys(t, "a "+key("a")), mustKeys(t, "a "+key("a")+"\nb "+key("b"))
	first := old.Next("c1", Last{}, "x/intent/1", "{}")
	second := both.Next("c1", Last{Seq: first.Seq, Hash: first.Hash}, "y/intent/1", "{}")
	if first.KeyID != "a" || second.KeyID != "b" || both.Check(first) != "" || both.Check(second) != "" {
		t.Errorf("%+v %+v", first, second)
	}
	if fault := old.Check(second); fault != UnknownKey {
		t.Errorf("a record of a key that is not there is %q", fault)
	}
}
