package guard

import (
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

var installed = metav1.NewTime(time.Unix(1_700_000_000, 0))

func shipped(t *testing.T, namespace string) Shipped {
	t.Helper()
	s, err := ShippedFor("capture", namespace)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// live is what an API server has after the installation.
func live(s Shipped) (l Live) {
	for _, p := range s.Policies {
		made := p.DeepCopy()
		made.CreationTimestamp, made.UID, made.Generation = installed, types.UID(made.Name), 1
		l.Policies = append(l.Policies, *made)
	}
	for _, b := range s.Bindings {
		made := b.DeepCopy()
		made.CreationTimestamp, made.UID, made.Generation = installed, types.UID(made.Name), 1
		l.Bindings = append(l.Bindings, *made)
	}
	return l
}

func TestEveryPolicyIsShippedWithItsBinding(t *testing.T) {
	s := shipped(t, "statecraft-system")
	if len(s.Policies) == 0 || len(s.Policies) != len(s.Bindings) {
		t.Fatalf("%d policies and %d bindings are shipped", len(s.Policies), len(s.Bindings))
	}
	for i, b := range s.Bindings {
		if b.Spec.PolicyName != s.Policies[i].Name {
			t.Errorf("binding %s is of %s", b.Name, b.Spec.PolicyName)
		}
	}
}

// TestGaps takes away, weakens or changes one object at a time.
func TestGaps(t *testing.T) {
	const policy, binding = "ValidatingAdmissionPolicy artifacts.capture.statecraft.dev", "ValidatingAdmissionPolicyBinding artifacts.capture.statecraft.dev"
	for name, tc := range map[string]struct {
		change func(*Live)
		want   string
	}{
		"nothing is wrong":           {func(*Live) {}, ""},
		"nothing is installed":       {func(l *Live) { *l = Live{} }, policy + " is missing"},
		"a policy is missing":        {func(l *Live) { l.Policies = l.Policies[1:] }, policy + " is missing"},
		"a binding is missing":       {func(l *Live) { l.Bindings = l.Bindings[1:] }, binding + " is missing"},
		"a policy is being deleted":  {func(l *Live) { l.Policies[0].DeletionTimestamp = &installed }, policy + " is missing"},
		"a binding is being deleted": {func(l *Live) { l.Bindings[0].DeletionTimestamp = &installed }, binding + " is missing"},
		"failures are ignored":       {func(l *Live) { l.Policies[0].Spec.FailurePolicy = ptr.To(admissionv1.Ignore) }, policy + " is not the one that is shipped"},
		"an expression is gone":      {func(l *Live) { l.Policies[0].Spec.Validations = l.Policies[0].Spec.Validations[1:] }, policy + " is not the one that is shipped"},
		"a constraint is changed": {func(l *Live) {
			l.Policies[0].Spec.MatchConstraints.MatchPolicy = ptr.To(admissionv1.Exact)
		}, policy + " is not the one that is shipped"},
		"one namespace is left out": {func(l *Live) {
			l.Policies[0].Spec.MatchConstraints.NamespaceSelector.MatchLabels = map[string]string{"a": "b"}
		}, policy + " is not the one that is shipped"},
		"violations are only audited": {func(l *Live) {
			l.Bindings[0].Spec.ValidationActions = []admissionv1.ValidationAction{admissionv1.Audit}
		}, binding + " is not the one that is shipped"},
		"a binding is narrowed":    {func(l *Live) { l.Bindings[0].Spec.MatchResources = &admissionv1.MatchResources{} }, binding + " is not the one that is shipped"},
		"somebody labels a policy": {func(l *Live) { l.Policies[0].Labels = map[string]string{"a": "b"} }, ""},
		"somebody adds a policy": {func(l *Live) {
			l.Policies = append(l.Policies, admissionv1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: "theirs"}})
		}, ""},
	} {
		s := shipped(t, "statecraft-system")
		is := live(s)
		tc.change(&is)
		if got := s.Judge(is).Gap; got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

// TestAPolicyDoesNotLookBack: what was made before a policy, nobody has checked.
func TestAPolicyDoesNotLookBack(t *testing.T) {
	const late = "ValidatingAdmissionPolicy artifacts.capture.statecraft.dev was not in force yet when the request was made"
	for name, tc := range map[string]struct {
		change func(*Live)
		made   time.Duration // after the installation
		want   string
	}{
		"long after":                     {func(*Live) {}, time.Hour, ""},
		"as soon as it is in force":      {func(*Live) {}, 10 * time.Second, ""},
		"before it is in force":          {func(*Live) {}, time.Second, late},
		"before":                         {func(*Live) {}, -time.Hour, late},
		"before a label was added to it": {func(l *Live) { l.Policies[0].ManagedFields = managed(2 * time.Hour) }, time.Hour, ""},
		"while one is missing":           {func(l *Live) { l.Bindings = nil }, -time.Hour, ""}, // that is a gap
	} {
		s := shipped(t, "statecraft-system")
		is := live(s)
		tc.change(&is)
		if got := s.Judge(is).TooEarly("the request", installed.Add(tc.made)); got != tc.want {
			t.Errorf("a request of %s: %q, want %q", name, got, tc.want)
		}
	}
}

func managed(after time.Duration) []metav1.ManagedFieldsEntry {
	return []metav1.ManagedFieldsEntry{{Time: &metav1.Time{Time: installed.Add(after)}}}
}

// TestAManagerElsewhere: the policies name the manager's account, and are changed with its namespace.
func TestAManagerElsewhere(t *testing.T) {
	here, elsewhere := shipped(t, "statecraft-system"), shipped(t, "backups")
	if got := elsewhere.Judge(live(here)).Gap; !strings.Contains(got, "is not the one that is shipped") {
		t.Errorf("the policies of a manager in another namespace do: %q", got)
	}
	if got := elsewhere.Judge(live(elsewhere)).Gap; got != "" {
		t.Error(got)
	}
}
