package policy

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestADigestIsOfOnePack(t *testing.T) {
	pack := NewPack(map[string]string{"b.rego": "two", "a.rego": "one"})
	if again := NewPack(map[string]string{"a.rego": "one", "b.rego": "two"}); pack.Digest() != again.Digest() {
		t.Error("the same texts have two digests")
	}
	for name, other := range map[string]map[string]string{
		"another text":                {"a.rego": "one", "b.rego": "three"},
		"another name":                {"a.rego": "one", "c.rego": "two"},
		"one module less":             {"a.rego": "one"},
		"texts that swapped":          {"a.rego": "two", "b.rego": "one"},
		"a text that begins later":    {"a.regoo": "ne", "b.rego": "two"},
		"one module that reads alike": {"a.rego": "oneb.regotwo"},
		"no module":                   {},
	} {
		if NewPack(other).Digest() == pack.Digest() {
			t.Errorf("%s: the digest is the same", name)
		}
	}
}

func TestTestsOfAPackDoNotDecide(t *testing.T) {
	pack := NewPack(map[string]string{"a.rego": "one", "a_test.rego": "two", "test.rego": "three"})
	want := NewPack(map[string]string{"a.rego": "one", "test.rego": "three"})
	if diff := cmp.Diff(want, pack.Deciding()); diff != "" {
		t.Error(diff)
	}
}

func TestAnEncodedInputHasNoNull(t *testing.T) {
	encoded, err := Question{}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	text := string(encoded)
	if _, input, _ := strings.Cut(text, `"input"`); strings.Contains(input, "null") || strings.Contains(input, "pods") {
		t.Errorf("the input is %s", text)
	}
}

func TestTheTimeIsCutToTheMinute(t *testing.T) {
	at := time.Date(2026, 11, 17, 12, 30, 59, 999, time.FixedZone("east", 3600))
	if got, want := Minute(at), "2026-11-17T11:30:00Z"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestTextsAreCutForAStatus(t *testing.T) {
	for name, text := range map[string]string{
		"long":        strings.Repeat("x", 10_000),
		"many bytes":  strings.Repeat("ü", 513),
		"no UTF-8":    "a\xffb",
		"just fits":   strings.Repeat("ü", 512),
		"empty":       "",
		"cut at rune": strings.Repeat("x", 511) + "üü",
	} {
		cut := Cut(text)
		if n := utf8.RuneCountInString(cut); n > MaxLength || !utf8.ValidString(cut) {
			t.Errorf("%s: %d runes of %q", name, n, cut)
		}
		if utf8.ValidString(text) && utf8.RuneCountInString(text) <= MaxLength && cut != text {
			t.Errorf("%s: %q was cut to %q", name, text, cut)
		}
	}
}

func TestADenialHasAVerdictForEachCondition(t *testing.T) {
	r := Deny(Question{Conditions: []Condition{{Name: "a"}, {Name: "b"}}}, "no answer")
	want := Reply{Problem: "no answer", Conditions: map[string]Verdict{"a": {Message: "no answer"}, "b": {Message: "no answer"}}}
	if diff := cmp.Diff(want, r); diff != "" {
		t.Error(diff)
	}
}
