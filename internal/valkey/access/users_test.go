package access

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func files(operator, replication, name, application string) map[string]string {
	return map[string]string{OperatorFile: operator, ReplicationFile: replication, ApplicationUserFile: name, ApplicationPasswordFile: application}
}

func TestParseSecrets(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  []string // the passwords that are valid, by user
		err   error
	}{
		"one password each":               {files: files("a", "b\n", "shop", "c\r\n"), want: []string{Operator + " a", Replication + " b", "shop c"}},
		"two while one is changed":        {files: files("new\nold\n", "b", "shop", "c"), want: []string{Operator + " new old", Replication + " b", "shop c"}},
		"a blank belongs to a password":   {files: files(" a ", "b", "shop", "c d"), want: []string{Operator + "  a ", Replication + " b", "shop c d"}},
		"no application yet":              {files: files("a", "b", "", ""), want: []string{Operator + " a", Replication + " b"}},
		"no password for the operator":    {files: files("\n", "b", "shop", "c"), err: ErrMalformed},
		"no password for the replication": {files: files("a", "", "shop", "c"), err: ErrMalformed},
		"an application without password": {files: files("a", "b", "shop", "\n"), err: ErrMalformed},
		"an application without name":     {files: files("a", "b", " ", "c"), err: ErrMalformed},
		"a name of two words":             {files: files("a", "b", "shop +@all", "c"), err: ErrMalformed},
		"a name over two lines":           {files: files("a", "b", "shop\nuser evil", "c"), err: ErrMalformed},
		"the name of nobody":              {files: files("a", "b", Default, "c"), err: ErrMalformed},
		"the operator's name":             {files: files("a", "b", Operator, "c"), err: ErrMalformed},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := ParseSecrets(c.files)
			if !errors.Is(err, c.err) {
				t.Fatalf("error %v", err)
			}
			var got []string
			for _, u := range []struct {
				name      string
				passwords []Password
			}{{Operator, s.Operator}, {Replication, s.Replication}, {s.ApplicationName, s.Application}} {
				line := u.name
				for _, p := range u.passwords {
					line += " " + p.Reveal()
				}
				if len(u.passwords) > 0 {
					got = append(got, line)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func secrets(t *testing.T) Secrets {
	t.Helper()
	s, err := ParseSecrets(files("o-new\no-old", "r", "shop", "a"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestFile(t *testing.T) {
	text := File(secrets(t).Users("8.0.1"), "ff")
	lines := strings.Split(text, "\n")
	if lines[0] != "user default off" || len(lines) != 6 || lines[4] != "user statecraft-files off #ff" {
		t.Errorf("the file is\n%s", text)
	}
	o := secrets(t).Operator
	if want := fmt.Sprintf("user %s on #%s #%s ~* +acl|deluser ", Operator, o[0].Hash(), o[1].Hash()); !strings.HasPrefix(lines[1], want) {
		t.Errorf("the operator is\n%s\nand not\n%s", lines[1], want)
	}
	for _, secret := range []string{"o-new", "o-old"} {
		if strings.Contains(text, secret) {
			t.Errorf("the file shows %q", secret)
		}
	}
	if got := NewPassword("foobared").Hash(); got != "1b58ee375b42e41f0e48ef2ff27d10a5b1f6924a9acdcdba7cae868e7adce6bf" {
		t.Errorf("the hash is %s", got)
	}
}

// Older servers do not start with a rule about a command that they do not know.
func TestRulesFollowTheVersion(t *testing.T) {
	for version, want := range map[string]bool{"8.0.1": false, "8.1.1": false, "9.0.0": true, "9.1.2": true, "10.0.0": true} {
		text := File(secrets(t).Users(version), "ff")
		for _, word := range []string{"cluster|migrateslots", "cluster|syncslots"} {
			if strings.Contains(text, word) != want {
				t.Errorf("%s on %s:\n%s", word, version, text)
			}
		}
	}
}

func TestPasswordsDoNotShow(t *testing.T) {
	p := NewPassword("s3cret")
	encoded, err := json.Marshal(map[string]any{"p": p, "list": []Password{p}})
	if err != nil {
		t.Fatal(err)
	}
	s := Secrets{Operator: []Password{p}}
	shown := fmt.Sprintf("%s %v %+v %#v %q %s %v %+v %#v", p, p, p, p, p, encoded, s, s, s)
	if strings.Contains(shown, "s3cret") || strings.Contains(shown, "73337") {
		t.Error(shown)
	}
}

// Every command that a user must have is asked for, with as many words as it needs.
func TestProbesCoverTheOperator(t *testing.T) {
	asked := map[string]bool{}
	for _, p := range Probes("9.1.2", secrets(t).Users("9.1.2")) {
		if p.User == Operator && p.Allowed {
			name := strings.ToLower(p.Words[0])
			if len(p.Words) > 1 {
				asked[name+"|"+strings.ToLower(p.Words[1])] = true
			}
			asked[name] = true
		}
	}
	for _, c := range OperatorCommands("9.1.2") {
		if !asked[c] {
			t.Errorf("%s is not asked for", c)
		}
	}
	for c := range examples {
		if !asked[c] {
			t.Errorf("there is an example of %s, which nobody sends", c)
		}
	}
}
