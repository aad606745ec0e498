package observe

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// TestIdentity: the manager is who it is to be, from a pod. What is wrong is told in words that say what to do.
func TestIdentity(t *testing.T) {
	const account = "system:serviceaccount:statecraft-system:statecraft-remediation"
	bound := map[string][]string{podUID: {"1"}}
	for name, tc := range map[string]struct {
		who  read.User
		says string
	}{
		"the account, from a pod":         {read.User{Name: account, Extra: bound}, ""},
		"the account, from no pod":        {read.User{Name: account}, "run it as a pod."},
		"another account, from a pod":     {read.User{Name: "system:serviceaccount:shop:default", Extra: bound}, "install it with its own account."},
		"an administrator, from a laptop": {read.User{Name: "kubernetes-admin"}, "install it with its own account."},
	} {
		i := &Identity{Who: func(context.Context) (read.User, error) { return tc.who, nil }, Account: account, Now: time.Now}
		if wrong, err := i.Look(t.Context()); err != nil || (wrong == "") != (tc.says == "") || !strings.HasSuffix(wrong, tc.says) {
			t.Errorf("%s: %q, %v", name, wrong, err)
		}
	}
}

// TestIdentityIsAskedAgain after a while, and at once after an error: an error is no answer.
func TestIdentityIsAskedAgain(t *testing.T) {
	now, who, failed := time.Unix(1_700_000_000, 0), read.User{Name: "other"}, errors.New("no answer")
	err := failed
	i := &Identity{Who: func(context.Context) (read.User, error) { return who, err }, Account: "own", Now: func() time.Time { return now }}
	if _, got := i.Look(t.Context()); !errors.Is(got, failed) {
		t.Errorf("error %v", got)
	}
	err = nil
	if wrong, _ := i.Look(t.Context()); wrong == "" {
		t.Error("another account is not told")
	}
	who = read.User{Name: "own", Extra: map[string][]string{podUID: {"1"}}}
	if wrong, _ := i.Look(t.Context()); wrong == "" {
		t.Error("it is asked before its time")
	}
	now = now.Add(askAgain)
	if wrong, _ := i.Look(t.Context()); wrong != "" {
		t.Errorf("it is not asked again: %s", wrong)
	}
}
