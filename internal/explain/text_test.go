package explain

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWrap(t *testing.T) {
	for name, tc := range map[string]struct {
		text string
		want []string
	}{
		"words stay whole":             {"one two  three\nfour", []string{"one two", "three four"}},
		"a line may be full":           {"1234567890 12", []string{"1234567890", "12"}},
		"a word that is too long":      {"a 123456789012 b", []string{"a", "1234567890", "12 b"}},
		"letters count and not bytes":  {"öööö ööööö ö", []string{"öööö ööööö", "ö"}},
		"nothing has no line":          {" ", nil},
		"a word of just twice as much": {"12345678901234567890", []string{"1234567890", "1234567890"}},
	} {
		if diff := cmp.Diff(tc.want, wrap(tc.text, 10)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestTable(t *testing.T) {
	p := &page{}
	p.table([]string{"NAME", "WHY"}, [][]string{{strings.Repeat("n", 90), strings.Repeat("w", 90)}, {"a", ""}})
	lines := strings.Split(strings.TrimRight(p.String(), "\n"), "\n")
	if len(lines) != 3 || len([]rune(lines[1])) != 80 || !strings.Contains(lines[1], "n…  www") || lines[2] != "a" {
		t.Errorf("%q", lines)
	}
	p = &page{}
	p.table([]string{"NAME", "WHY"}, [][]string{{"web", "no"}})
	if p.String() != "NAME  WHY\nweb   no\n" {
		t.Errorf("%q", p.String())
	}
}
