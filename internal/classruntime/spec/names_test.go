package spec

import (
	"math/rand/v2"
	"strings"
	"testing"

	runtimev1 "github.com/statecraft-dev/statecraft/api/runtime/v1alpha1"
)

const (
	letters = "abcdefghijklmnopqrstuvwxyz"
	digits  = "0123456789"
	inner   = letters + digits + "---"
)

// words are names as the API server accepts them: a million of them must not take long.
type words struct {
	*rand.Rand
	pool string // of which words are cut
}

func newWords(seed uint64) words {
	r := rand.New(rand.NewPCG(seed, 1))
	b := make([]byte, 1<<16)
	for i := range b {
		b[i] = inner[r.IntN(len(inner))]
	}
	return words{r, string(b)}
}

func (w words) next(first string) string {
	n, at := w.Uint64(), w.Uint64()
	size, start := int(n%39), int(at%(1<<15))
	word := first[at>>20%uint64(len(first)):][:1] + w.pool[start:start+size]
	for word[len(word)-1] == '-' {
		word = word[:len(word)-1]
	}
	return word
}

// class is the name of one, and key that of a function.
func (w words) class() string { return w.next(letters) }
func (w words) key() string   { return w.next(letters + digits) }

// isLegal says that a name is a DNS-1035 label that leaves room for what others append to it.
func isLegal(name string) bool {
	in := func(c byte, set string) bool { return strings.IndexByte(set, c) >= 0 }
	for i := range len(name) {
		if !in(name[i], inner) {
			return false
		}
	}
	return name != "" && len(name) <= longestName && in(name[0], letters) && in(name[len(name)-1], letters+digits)
}

// Whatever class and key are called, names are legal, and no two functions of a class share one.
func TestNamesAreLegalAndTheirOwn(t *testing.T) {
	w := newWords(1)
	for range 1_000_000 {
		of, a, b := w.class(), w.key(), w.key()
		for _, name := range []func(string, string) string{plain, hashed} {
			one := name(of, a)
			if !isLegal(one) {
				t.Fatalf("%s and %s: %q", of, a, one)
			}
			if a != b && one == name(of, b) {
				t.Fatalf("%s: %s and %s share %q", of, a, b, one)
			}
		}
	}
}

// Classes whose names run together with the keys of their functions share a name, unless they ask for hashes.
func TestNamesThatRunTogether(t *testing.T) {
	if plain("a-b", "c") != plain("a", "b-c") {
		t.Error("plain names have changed")
	}
	w := newWords(2)
	for range 100_000 {
		a, b, c := w.class(), w.key(), w.key()
		if one, two := hashed(a+"-"+b, c), hashed(a, b+"-"+c); one == two {
			t.Fatalf("%s-%s-%s: both are %q", a, b, c, one)
		}
	}
}

// Names stay when functions come, go, or change places.
func TestNamesAreStable(t *testing.T) {
	w := newWords(3)
	for _, naming := range []runtimev1.Naming{"", runtimev1.NamingPlain, runtimev1.NamingHashed} {
		names := map[string]string{}
		for range 100 {
			c := class()
			c.Spec.Naming = naming
			for range 1 + w.IntN(64) {
				f := short()
				f.Key = w.class()[:1]
				c.Spec.Functions = append(c.Spec.Functions, f)
			}
			for _, f := range Functions(c) {
				if was, known := names[f.Key]; known && was != f.Name {
					t.Fatalf("%s was %s, and is %s", f.Key, was, f.Name)
				}
				names[f.Key] = f.Name
			}
		}
	}
}
