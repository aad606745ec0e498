package images

import (
	"bytes"
	"compress/gzip"
	"errors"
	"testing"
)

func TestAVersionIsReadFromAChangelog(t *testing.T) {
	for what, test := range map[string]struct {
		text string
		want string
		fail bool
	}{
		"a backport":             {text: "valkey (8.0.1+dfsg1-1~bpo12+1) bookworm-backports; urgency=medium\n\n", want: "8.0.1+dfsg1-1~bpo12+1"},
		"a line without version": {text: "valkey\n", fail: true},
		"an empty changelog":     {fail: true},
	} {
		t.Run(what, func(t *testing.T) {
			var packed bytes.Buffer
			writer := gzip.NewWriter(&packed)
			if _, err := writer.Write([]byte(test.text)); err != nil {
				t.Fatal(err)
			}
			if err := writer.Close(); err != nil {
				t.Fatal(err)
			}
			got, err := firstVersion(&packed)
			if got != test.want || (err != nil) != test.fail {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}

func TestEveryTagHasARecipe(t *testing.T) {
	for _, tag := range All() {
		_, made := recipes[tag]
		if _, built := programs[tag]; made == built {
			t.Errorf("no recipe for %s, or two", tag)
		}
	}
	if _, err := Archive(t.Context(), "bed.local/unheard-of:1"); !errors.Is(err, ErrUnknown) {
		t.Errorf("an unknown image: %v", err)
	}
}

// Docs and samples print published names; two images of one name would take it from each other.
func TestNamesAreOfOneImage(t *testing.T) {
	of := map[string]string{}
	for _, tag := range All() {
		for _, name := range Names(tag) {
			if other, taken := of[name]; taken {
				t.Errorf("%s and %s are both called %s", tag, other, name)
			}
			of[name] = tag
		}
	}
	for tag, name := range published {
		if of[name] != tag {
			t.Errorf("%s is the name of %s, which is no image", name, tag)
		}
	}
}
