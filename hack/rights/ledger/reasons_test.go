package ledger

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

const explained = `
ClusterRole/shop:
- rights: [get secrets(keys), get things.apps, list things.apps, patch things/status, impersonate serviceaccounts(tenant)]
  why: Nobody has keys in tests.
- rights: [list things]
  why: Lists are for big shops.
Role/shop:
- rights: [create things, patch things]
  why: Shops that are full make things.
ClusterRole/captured:
- rights: [list things]
  why: Tenants capture.
`

func TestRightsReasonsAndUsesMustAgree(t *testing.T) {
	for what, test := range map[string]struct {
		reasons string
		lines   []string
		want    Judgement
	}{
		"what is used needs no reason, and all else has one": {reasons: explained, lines: []string{request()}},
		"a right that is neither used nor explained": {
			reasons: explained,
			want:    Judgement{Unexplained: []Right{{Role: Role{"ClusterRole", "shop"}, Verb: "get", Resource: "things"}}},
		},
		"a reason for what is not granted": {
			reasons: explained + "- rights: [delete things]\n  why: Things must go.\n", lines: []string{request()},
			want: Judgement{NotGranted: []string{"ClusterRole/captured delete things"}},
		},
		"a reason that use refutes": {
			reasons: explained, lines: []string{request(), request(`"get"`, `"list"`)},
			want: Judgement{Refuted: []Right{{Role: Role{"ClusterRole", "shop"}, Verb: "list", Resource: "things"}}},
		},
	} {
		t.Run(what, func(t *testing.T) {
			reasons, err := ParseReasons([]byte(test.reasons))
			if err != nil {
				t.Fatal(err)
			}
			l := New(granted(t, manifests))
			for _, line := range test.lines {
				uses, err := Uses([]byte(line))
				if err != nil {
					t.Fatal(err)
				}
				for _, use := range uses {
					l.Enter(use)
				}
			}
			if diff := cmp.Diff(test.want, l.Judge(reasons)); diff != "" {
				t.Errorf("judgement (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAReasonIsOneSentence(t *testing.T) {
	for what, list := range map[string]string{
		"no reason":          "Role/a:\n- rights: [get things]\n",
		"half a sentence":    "Role/a:\n- rights: [get things]\n  why: for later\n",
		"two reasons":        "Role/a:\n- rights: [get things]\n  why: One.\n- rights: [get things]\n  why: Two.\n",
		"a field of no name": "Role/a:\n- right: get things\n  why: One.\n",
	} {
		if reasons, err := ParseReasons([]byte(list)); err == nil {
			t.Errorf("%s: no error, and reasons %v", what, reasons)
		}
	}
}
