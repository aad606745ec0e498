package action

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode"
	"unicode/utf8"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
)

const (
	// defaultLength is the most characters of a string for which the definition gives no other number.
	defaultLength = 253
	// maxPattern is the most characters of a pattern.
	maxPattern = 512
	// maxProgram is the most instructions of a compiled pattern. Matching takes up to as many steps for
	// each character.
	maxProgram = 4096
)

// text is what a string must be like.
type text struct {
	length  int
	pattern *regexp.Regexp
	written string
}

func textOf(p remediationv1.Parameter) (text, error) {
	t := text{length: defaultLength, written: p.Pattern}
	if p.MaxLength != nil {
		t.length = int(*p.MaxLength)
	}
	if p.Pattern == "" {
		return t, nil
	}
	re, err := compile(p.Pattern)
	if err != nil {
		return t, refuse("The action's definition gives parameter %s a pattern that %s.", p.Name, err)
	}
	t.pattern = re
	return t, nil
}

// check refuses a string that is not like this. A string without a pattern may neither be taken for
// an option of a program nor be shown otherwise than it is.
func (t text) check(what, s string) error {
	switch n := utf8.RuneCountInString(s); {
	case !utf8.ValidString(s), strings.ContainsRune(s, 0): // no argument of a program can contain it
		return refuse("%s contains the character NUL, or is not UTF-8.", what)
	case n > t.length:
		return refuse("%s has %d characters, and %d are the most.", what, n, t.length)
	case t.pattern != nil && !matches(t.pattern, s):
		return refuse("%s does not match the pattern %s as a whole.", what, t.written)
	case t.pattern != nil:
		return nil
	case strings.HasPrefix(s, "-"):
		return refuse("%s begins with a dash, which only a pattern can allow.", what)
	}
	if i := strings.IndexFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }); i >= 0 {
		r, _ := utf8.DecodeRuneInString(s[i:])
		return refuse("%s contains the character %U, which only a pattern can allow.", what, r)
	}
	return nil
}

// compile reads a pattern and bounds the work that it can make.
func compile(pattern string) (*regexp.Regexp, error) {
	if len(pattern) > maxPattern {
		return nil, fmt.Errorf("is longer than %d characters", maxPattern)
	}
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, errors.New("is not a regular expression of RE2")
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil || len(program.Inst) > maxProgram {
		return nil, errors.New("takes too long to match")
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, errors.New("is not a regular expression of RE2")
	}
	re.Longest()
	return re, nil
}

// matches says that the pattern matches the whole text: where it can, the leftmost longest match is
// that. To write ^ and $ around a pattern instead would let one with a | of its own match parts.
func matches(re *regexp.Regexp, s string) bool {
	at := re.FindStringIndex(s)
	return at != nil && at[0] == 0 && at[1] == len(s)
}
