package act

import (
	"errors"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/statecraft-dev/statecraft/internal/classruntime/class"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube"
)

func target(function string) class.Target { return class.Target{Function: function} }

// The gravest error of a batch is that of the effect, and every refusal is kept with its function.
func TestWorst(t *testing.T) {
	invalid := &fsm.Error{Class: fsm.Refused, Err: errors.New("no"), Reason: kube.ReasonInvalidChild, Say: "The API server finds it invalid."}
	contested := &fsm.Error{Class: fsm.Contested, Err: errors.New("no"), Say: "Others own fields."}
	taken := kube.Taken("Deployment", &metav1.ObjectMeta{Name: "cart-add"})
	passing := errors.New("timeout")
	for _, c := range []struct {
		what    string
		errs    []error
		class   fsm.ErrorClass
		reason  fsm.Reason
		refused int
	}{
		{"one is refused", []error{nil, invalid}, fsm.Refused, class.ReasonApplyInvalid, 1},
		{"one is contested, another cannot be reached", []error{passing, contested}, fsm.Contested, class.ReasonConflict, 1},
		{"a name is taken, another is contested", []error{contested, taken}, fsm.Refused, class.ReasonNameTaken, 2},
		{"one cannot be reached", []error{passing, nil}, fsm.Transient, "", 0},
	} {
		err := worst([]class.Target{target("add"), target("total")}, c.errs)
		var all class.Refusals
		errors.As(err, &all)
		if fsm.ClassOf(err) != c.class || fsm.ReasonOf(err) != c.reason || len(all) != c.refused {
			t.Errorf("%s: %v (%s, %s, %d)", c.what, err, fsm.ClassOf(err), fsm.ReasonOf(err), len(all))
		}
	}
	if err := worst([]class.Target{target("add")}, []error{nil}); err != nil {
		t.Error(err)
	}
}

// What was accepted before and is invalid now is so by an edit: status says whose, and not that the spec is wrong.
func TestWhoIsBlamed(t *testing.T) {
	invalid := &fsm.Error{Class: fsm.Refused, Err: errors.New("no"), Reason: kube.ReasonInvalidChild, Say: "The API server finds it invalid."}
	edit := []class.Edit{{Field: ".spec.template", By: "kubectl-edit"}}
	for what, c := range map[string]struct {
		corrects []class.Edit
		err      error
		want     string
	}{
		"an edit":                   {edit, invalid, `was changed by "kubectl-edit"`},
		"an edit without a trace":   {[]class.Edit{{Field: ".spec.template"}}, invalid, "was changed by somebody"},
		"the spec":                  {nil, invalid, "The API server finds it invalid."},
		"who refuses it besides":    {edit, kube.Taken("Deployment", &metav1.ObjectMeta{Name: "cart-add"}), "is controlled by"},
		"nobody":                    {edit, nil, ""},
		"what passes is no verdict": {edit, errors.New("timeout"), ""},
	} {
		err := blame(class.Target{Ref: class.Ref{Kind: "Deployment", Name: "cart-add"}, Corrects: c.corrects}, c.err)
		if say := fsm.StatusMessage(err); !strings.Contains(say, c.want) || fsm.ClassOf(err) != fsm.ClassOf(c.err) || (err == nil) != (c.err == nil) {
			t.Errorf("%s: %v: %s", what, err, say)
		}
	}
}

// A person's wish for the replicas of the spec takes no field of another controller besides; what people edited is undone anyway.
func TestATakeOverTakesReplicasAlone(t *testing.T) {
	const image = `.spec.template.spec.containers[name="function"].image`
	for what, c := range map[string]struct {
		fields []kube.ConflictField
		want   bool
	}{
		"replicas":                          {[]kube.ConflictField{{Manager: "argocd-controller", Field: ".spec.replicas"}}, true},
		"and an image of that controller":   {[]kube.ConflictField{{Manager: "argocd-controller", Field: ".spec.replicas"}, {Manager: "argocd-controller", Field: image}}, false},
		"and an image that a person edited": {[]kube.ConflictField{{Manager: "argocd-controller", Field: ".spec.replicas"}, {Manager: "kubectl-edit", Field: image}}, true},
	} {
		if got := isReplicasAlone(&kube.Conflict{Fields: c.fields}); got != c.want {
			t.Errorf("%s: %t", what, got)
		}
	}
}
