package main

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func TestTally(t *testing.T) {
	event := func(action, pkg, test string) string {
		return `{"Action":"` + action + `","Package":"` + pkg + `","Test":"` + test + `"}`
	}
	for name, tc := range map[string]struct {
		stages string
		json   []string
		want   counts
	}{
		"a stage without tests counts as one": {
			stages: "verify 0\n", want: counts{passed: 1},
		},
		"a stage that breaks without a failing test is a failure": {
			stages: "quick 2\n", json: []string{event("pass", "a", "TestA"), event("pass", "a", "")},
			want: counts{passed: 1, failed: 1, names: []string{"FAIL  quick ended with 2"}},
		},
		"a failing test is counted once, its package is not": {
			stages: "quick 1\n", json: []string{event("fail", "a", "TestA"), event("fail", "a", "")},
			want: counts{failed: 1, names: []string{"FAIL  a TestA"}},
		},
		"a package that does not compile is a failure": {
			stages: "quick 1\n", json: []string{event("fail", "a", "")},
			want: counts{failed: 1, names: []string{"FAIL  a"}},
		},
		"a skipped test is named, a package without tests is not": {
			stages: "quick 0\n", json: []string{event("skip", "a", "TestA"), event("skip", "b", "")},
			want: counts{skipped: 1, names: []string{"SKIP  a TestA"}},
		},
		"a test that passes at the second try passes, and is named": {
			stages: "e2e 0\n",
			json:   []string{event("fail", "a", "TestA/sub"), event("fail", "a", "TestA"), event("pass", "a", "TestB"), event("fail", "a", ""), event("pass", "a", "TestA/sub"), event("pass", "a", "TestA"), event("pass", "a", "")},
			want:   counts{passed: 3, unsteady: 1, names: []string{"AGAIN a TestA"}},
		},
		"a test that fails twice is one failure": {
			stages: "e2e 1\n", json: []string{event("fail", "a", "TestA"), event("fail", "a", ""), event("fail", "a", "TestA"), event("fail", "a", "")},
			want: counts{failed: 1, names: []string{"FAIL  a TestA"}},
		},
		"what a killed stage did until then counts": {
			stages: "quick 124\n", json: []string{event("pass", "a", "TestA"), `{"Action":"pa`},
			want: counts{passed: 1, failed: 1, names: []string{"FAIL  quick ended with 124"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := fstest.MapFS{"stages": {Data: []byte(tc.stages)}}
			if tc.json != nil {
				dir[strings.Fields(tc.stages)[0]+".json"] = &fstest.MapFile{Data: []byte(strings.Join(tc.json, "\n"))}
			}
			got, err := tally(dir)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(counts{})); diff != "" {
				t.Errorf("counts (-want +got):\n%s", diff)
			}
		})
	}
}
