package version

import "testing"

func TestUserAgent(t *testing.T) {
	oldVersion, oldCommit := version, commit
	t.Cleanup(func() { version, commit = oldVersion, oldCommit })
	for _, test := range []struct{ version, commit, want string }{
		{"dev", "", "statecraft-manager/dev"},
		{"0.1.0", "1a2b3c4", "statecraft-manager/0.1.0 (1a2b3c4)"},
	} {
		version, commit = test.version, test.commit
		if got := UserAgent("statecraft-manager"); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}
