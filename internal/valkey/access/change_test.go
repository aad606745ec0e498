package access

import (
	"bytes"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// reread is what is read from what was kept.
func reread(t *testing.T, s Secrets) Secrets {
	t.Helper()
	all := files("", "", "shop", "a")
	maps.Copy(all, s.Own())
	s, err := ParseSecrets(all)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestTheLifeOfPasswords(t *testing.T) {
	s := reread(t, secretsOf("o1", "r1", "a"))
	if s.Changing() {
		t.Error("nothing was begun")
	}
	begun := reread(t, s.Begin(NewPassword("o2"), NewPassword("r2")))
	if want := map[string]string{OperatorFile: "o2\no1\n", ReplicationFile: "r2\nr1\n"}; !maps.Equal(begun.Own(), want) || !begun.Changing() {
		t.Errorf("begun: %v", begun.Own())
	}
	twice := reread(t, begun.Begin(NewPassword("o3"), NewPassword("r3"))) // nobody may be locked out
	if got := twice.Own()[OperatorFile]; got != "o3\no2\no1\n" {
		t.Errorf("begun twice: %q", got)
	}
	ended := reread(t, begun.End())
	want := map[string]string{OperatorFile: "o2\n", ReplicationFile: "r2\n", RetiredFile: "o1\n"}
	if diff := cmp.Diff(want, ended.Own()); diff != "" || ended.Changing() {
		t.Errorf("ended (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, reread(t, ended.End()).Own()); diff != "" {
		t.Errorf("ended twice (-want +got):\n%s", diff)
	}
	if got := lines(ended.Logins()); got != "o2\no1\n" {
		t.Errorf("logins: %q", got)
	}
	if text := File(ended.Users("9.1.2"), ended.Newest()); strings.Contains(text, string(NewPassword("o1").Hash())) {
		t.Errorf("what is retired is still valid:\n%s", text)
	}
}

func TestGenerate(t *testing.T) {
	p, err := Generate(bytes.NewReader(make([]byte, strength)))
	if got := p.Reveal(); err != nil || len(got) != 43 || strings.Trim(got, "A") != "" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := Generate(strings.NewReader("short")); err == nil {
		t.Error("made of too little")
	}
}
