package ledger

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/statecraft-dev/statecraft/config"
)

const manifests = `
kind: ClusterRole
metadata: {name: shop}
rules:
- {apiGroups: ["", apps], resources: [things], verbs: [get, list]}
- {apiGroups: [""], resources: [things/status], verbs: [patch]}
- {apiGroups: [""], resources: [secrets], resourceNames: [keys], verbs: [get]}
- {apiGroups: [""], resources: [serviceaccounts], resourceNames: [tenant], verbs: [impersonate]}
---
kind: Role
metadata: {name: shop}
rules:
- {apiGroups: [""], resources: [things], verbs: [create, patch]}
---
kind: ClusterRoleBinding
metadata: {name: shop}
roleRef: {kind: ClusterRole, name: shop}
subjects: [{kind: ServiceAccount, name: shop, namespace: system}]
---
kind: RoleBinding
metadata: {name: shop}
roleRef: {kind: Role, name: shop}
subjects: [{kind: ServiceAccount, name: shop, namespace: system}]
---
kind: ClusterRole
metadata: {name: tenant}
aggregationRule: {clusterRoleSelectors: [{matchLabels: {for: tenant}}]}
---
kind: ClusterRole
metadata: {name: captured, labels: {for: tenant}}
rules:
- {apiGroups: [""], resources: [things], verbs: [list]}
---
kind: ClusterRole
metadata: {name: of-nobody}
rules:
- {apiGroups: [""], resources: [nodes], verbs: [get]}
`

func granted(t *testing.T, manifests string) *Grants {
	t.Helper()
	objects, err := config.Parse([]byte(manifests))
	if err != nil {
		t.Fatal(err)
	}
	g, err := Granted(objects, func(role string) string {
		if role == "tenant" {
			return "tenant" + Impersonated
		}
		return ""
	})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// texts are rights with their roles.
func texts(rights []Right) (all []string) {
	for _, r := range rights {
		all = append(all, r.key())
	}
	return all
}

func TestRolesAreTakenApart(t *testing.T) {
	got := map[string][]string{}
	for _, a := range New(granted(t, manifests)).Accounts() {
		got[a.Name] = texts(a.Granted)
	}
	want := map[string][]string{
		"shop": {
			"ClusterRole/shop get secrets(keys)", "ClusterRole/shop impersonate serviceaccounts(tenant)", "ClusterRole/shop get things",
			"ClusterRole/shop list things", "ClusterRole/shop get things.apps", "ClusterRole/shop list things.apps",
			"ClusterRole/shop patch things/status", "Role/shop create things", "Role/shop patch things",
		},
		"tenant, impersonated": {"ClusterRole/captured list things"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rights by account (-want +got):\n%s", diff)
	}
}

// A role that is not read right would be one without rights, of which none is missed.
func TestWhatIsNotUnderstoodIsAnError(t *testing.T) {
	for what, manifest := range map[string]string{
		"a binding of a role that is missing": `{kind: RoleBinding, metadata: {name: a}, roleRef: {kind: Role, name: b}, subjects: [{kind: ServiceAccount, name: c}]}`,
		"a binding of a user":                 `{kind: RoleBinding, metadata: {name: a}, roleRef: {kind: Role, name: b}, subjects: [{kind: User, name: c}]}`,
		"rights to addresses":                 `{kind: ClusterRole, metadata: {name: tenant}, rules: [{nonResourceURLs: [/metrics], verbs: [get]}]}`,
		"aggregation by two selectors":        `{kind: ClusterRole, metadata: {name: tenant}, aggregationRule: {clusterRoleSelectors: [{}, {}]}}`,
		"a rule of another shape":             `{kind: ClusterRole, metadata: {name: tenant}, rules: {verbs: [get]}}`,
	} {
		objects, err := config.Parse([]byte(manifest))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Granted(objects, func(role string) string { return role }); err == nil {
			t.Errorf("%s: no error", what)
		}
	}
}

// request is a line of an audit log, of an account that is allowed what it asks by a binding of its role.
func request(change ...string) string {
	line := `{"stage":"ResponseComplete","verb":"get","user":{"username":"system:serviceaccount:system:shop"},` +
		`"userAgent":"statecraft-manager/1","objectRef":{"resource":"things","name":"a"},"responseStatus":{"code":200},` +
		`"annotations":{"authorization.k8s.io/decision":"allow","authorization.k8s.io/reason":"` +
		`RBAC: allowed by ClusterRoleBinding \"shop\" of ClusterRole \"shop\" to ServiceAccount \"shop/system\""}}`
	return strings.NewReplacer(change...).Replace(line)
}

const by = `ClusterRoleBinding \"shop\" of ClusterRole \"shop\" to ServiceAccount \"shop/system\"`

func TestWhatALineOfALogShows(t *testing.T) {
	const as = `"impersonatedUser":{"username":"system:serviceaccount:till:tenant"},"userAgent"`
	const byOthers = `ClusterRoleBinding \"x\" of ClusterRole \"y\" to Group \"z\"`
	byTenant := `RoleBinding \"t/till\" of ClusterRole \"tenant\" to ServiceAccount \"tenant/till\"`
	for what, test := range map[string]struct {
		line string
		want []string // rights in use, and what is counted elsewhere
	}{
		"a read": {request(), []string{"ClusterRole/shop get things"}},
		"of a role in the namespace": {
			request(`"get"`, `"patch"`, by, `RoleBinding \"shop/system\" of Role \"shop\" to ServiceAccount \"shop/system\"`),
			[]string{"Role/shop patch things"},
		},
		"apply that made the object": {
			request(`"get"`, `"patch"`, `200`, `201`, by, `RoleBinding \"shop/system\" of Role \"shop\" to ServiceAccount \"shop/system\"`),
			[]string{"Role/shop create things", "Role/shop patch things"},
		},
		"a subresource":             {request(`"get"`, `"patch"`, `"name":"a"`, `"subresource":"status"`), []string{"ClusterRole/shop patch things/status"}},
		"an object by its name":     {request(`things`, `secrets`, `"a"`, `"keys"`), []string{"ClusterRole/shop get secrets(keys)"}},
		"an object of another name": {request(`things`, `secrets`), []string{"by others: shop get secrets by ClusterRole/shop"}},
		"another group":             {request(`"name":"a"`, `"apiGroup":"apps"`), []string{"ClusterRole/shop get things.apps"}},
		"a watch that began":        {request(`"get"`, `"watch"`, `Complete`, `Started`), []string{"by others: shop watch things by ClusterRole/shop"}},
		"a watch that ended":        {request(`"get"`, `"watch"`), nil},
		"as another account": {
			request(`"get"`, `"list"`, `"userAgent"`, as, by, byTenant),
			[]string{"ClusterRole/captured list things", "ClusterRole/shop impersonate serviceaccounts(tenant)"},
		},
		"as another account that may not": {
			request(`"userAgent"`, as, `"allow"`, `"forbid"`),
			[]string{"ClusterRole/shop impersonate serviceaccounts(tenant)", "refused: tenant, impersonated get things"},
		},
		"what the account may not":                         {request(`"allow"`, `"forbid"`), []string{"refused: shop get things"}},
		"by a role of others":                              {request(`"get"`, `"delete"`, by, byOthers), []string{"by others: shop delete things by ClusterRole/y"}},
		"by a role of others, where ours would do":         {request(by, byOthers), []string{"ClusterRole/shop get things"}},
		"by a role of others, where ours would do at home": {request(`"get"`, `"patch"`, `"name":"a"`, `"namespace":"system"`, by, byOthers), []string{"Role/shop patch things"}},
		"by a role of others, where ours would not do":     {request(`"get"`, `"patch"`, `"name":"a"`, `"namespace":"till"`, by, byOthers), []string{"by others: shop patch things by ClusterRole/y"}},
		"by another role that is called as that of an account": {request(`"get"`, `"list"`, `"userAgent"`, as, by, `RoleBinding \"t/till\" of Role \"shop\" to ServiceAccount \"tenant/till\"`),
			[]string{"ClusterRole/captured list things", "ClusterRole/shop impersonate serviceaccounts(tenant)"}},
		"what a test did as the account": {request(`statecraft-manager/1`, `capture.test/v0.0.0`), nil},
		"what a person did":              {request(`system:serviceaccount:system:shop`, `ann`), nil},
		"a request not decided about":    {request(`k8s.io/decision`, `k8s.io/other`), nil},
		"what concerns no resource":      {request(`"resource":"things",`, ``), nil},
	} {
		t.Run(what, func(t *testing.T) {
			uses, err := Uses([]byte(test.line))
			if err != nil {
				t.Fatal(err)
			}
			l := New(granted(t, manifests))
			for _, use := range uses {
				l.Enter(use)
			}
			if diff := cmp.Diff(test.want, shown(l)); diff != "" {
				t.Errorf("in use (-want +got):\n%s", diff)
			}
		})
	}
}

// shown is all that a ledger has, in order.
func shown(l *Ledger) []string {
	all := texts(slices.Collect(maps.Keys(l.used)))
	for what, counts := range map[string]map[string]map[string]int{"by others": l.Others(), "refused": l.Refused()} {
		for account, rights := range counts {
			for right := range rights {
				all = append(all, fmt.Sprintf("%s: %s %s", what, account, right))
			}
		}
	}
	slices.Sort(all)
	return all
}

// A log that says in other words who allowed a request would be one without uses.
func TestALineThatCannotBeReadIsAnError(t *testing.T) {
	for what, line := range map[string]string{
		"no JSON":         `{`,
		"no role at all":  request(by, ``),
		"a name cut off":  request(by, `ClusterRoleBinding \"shop\" of ClusterRole \"shop`),
		"another wording": request(by, `the administrator`),
	} {
		if uses, err := Uses([]byte(line)); err == nil {
			t.Errorf("%s: no error, and uses %v", what, uses)
		}
	}
}

// TestConstrainedImpersonation is two rights: to act as the account, and what may be done so.
func TestConstrainedImpersonation(t *testing.T) {
	l := New(granted(t, `
kind: ClusterRole
metadata: {name: shop}
rules:
- {apiGroups: [authentication.k8s.io], resources: [serviceaccounts], resourceNames: [tenant, other], verbs: ["impersonate:serviceaccount"]}
- {apiGroups: [""], resources: [things], verbs: ["impersonate-on:serviceaccount:get", "impersonate-on:serviceaccount:patch"]}
- {apiGroups: [""], resources: [serviceaccounts], resourceNames: [tenant], verbs: [impersonate]}
---
kind: ClusterRoleBinding
metadata: {name: shop}
roleRef: {kind: ClusterRole, name: shop}
subjects: [{kind: ServiceAccount, name: shop, namespace: system}]
`))
	uses, err := Uses([]byte(request(`"userAgent"`, `"impersonatedUser":{"username":"system:serviceaccount:till:tenant"},`+
		`"authenticationMetadata":{"impersonationConstraint":"impersonate:serviceaccount"},"userAgent"`)))
	if err != nil {
		t.Fatal(err)
	}
	for _, use := range uses {
		l.Enter(use)
	}
	want := []string{"ClusterRole/shop impersonate serviceaccounts(tenant)", "ClusterRole/shop impersonate:serviceaccount serviceaccounts.authentication.k8s.io(other)",
		"ClusterRole/shop impersonate-on:serviceaccount:patch things"}
	if diff := cmp.Diff(want, texts(l.Accounts()[0].Unused)); diff != "" {
		t.Errorf("not used (-want +got):\n%s", diff)
	}
}
