package ledger

import (
	"fmt"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
)

// Grants are the rights of accounts.
type Grants struct {
	rights   []Right
	accounts map[Role]string // who has the rights of a role
	// members are the roles whose rights the API server puts into another: requests are allowed by the other.
	members map[Role][]Role
}

// roles are those of some manifests, by what binds them.
type roles struct {
	rules      map[Role][]rbacv1.PolicyRule
	labels     map[Role]labels.Set
	aggregates map[Role]labels.Selector
	bound      map[Role]string
}

// Granted reads the rights of accounts from roles and bindings. Some roles are bound by users only: boundByUsers says to
// which account.
func Granted(objects []*unstructured.Unstructured, boundByUsers func(role string) (account string)) (*Grants, error) {
	all := roles{map[Role][]rbacv1.PolicyRule{}, map[Role]labels.Set{}, map[Role]labels.Selector{}, map[Role]string{}}
	for _, object := range objects {
		if err := all.add(object); err != nil {
			return nil, fmt.Errorf("read %s %s: %w", object.GetKind(), object.GetName(), err)
		}
	}
	for role := range all.rules {
		if account := boundByUsers(role.Name); account != "" {
			all.bound[role] = account
		}
	}
	return all.grants()
}

func (all roles) add(object *unstructured.Unstructured) error {
	role := Role{object.GetKind(), object.GetName()}
	switch role.Kind {
	case "ClusterRole", "Role":
		var as rbacv1.ClusterRole // a Role has a part of its fields
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &as); err != nil {
			return err
		}
		all.rules[role], all.labels[role] = as.Rules, as.Labels
		if as.AggregationRule == nil {
			return nil
		}
		if len(as.AggregationRule.ClusterRoleSelectors) != 1 || len(as.AggregationRule.ClusterRoleSelectors[0].MatchExpressions) > 0 {
			return fmt.Errorf("only one selector by labels is understood here")
		}
		all.aggregates[role] = labels.SelectorFromSet(as.AggregationRule.ClusterRoleSelectors[0].MatchLabels)
	case "ClusterRoleBinding", "RoleBinding":
		var as rbacv1.ClusterRoleBinding // a RoleBinding has the same fields
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &as); err != nil {
			return err
		}
		for _, subject := range as.Subjects {
			if subject.Kind != rbacv1.ServiceAccountKind {
				return fmt.Errorf("it binds a %s, and only accounts are understood here", subject.Kind)
			}
			all.bound[Role{as.RoleRef.Kind, as.RoleRef.Name}] = subject.Name
		}
	}
	return nil
}

func (all roles) grants() (*Grants, error) {
	g := &Grants{accounts: map[Role]string{}, members: map[Role][]Role{}}
	for role, account := range all.bound {
		if _, known := all.rules[role]; !known {
			return nil, fmt.Errorf("%s is bound to %s, and there is no such role", role, account)
		}
		g.members[role] = []Role{role}
		if selector := all.aggregates[role]; selector != nil {
			g.members[role] = all.selected(selector)
		}
		for _, member := range g.members[role] {
			g.accounts[member] = account
		}
	}
	for role := range g.accounts {
		rights, err := expand(role, all.rules[role])
		if err != nil {
			return nil, err
		}
		g.rights = append(g.rights, rights...)
	}
	slices.SortFunc(g.rights, inOrder)
	g.rights = slices.Compact(g.rights)
	return g, nil
}

func (all roles) selected(by labels.Selector) (members []Role) {
	for role, has := range all.labels {
		if role.Kind == "ClusterRole" && by.Matches(has) {
			members = append(members, role)
		}
	}
	return members
}

// expand takes rules apart into rights.
func expand(role Role, rules []rbacv1.PolicyRule) (rights []Right, err error) {
	for _, rule := range rules {
		if len(rule.NonResourceURLs) > 0 {
			return nil, fmt.Errorf("%s grants addresses, which are not understood here", role)
		}
		names := rule.ResourceNames
		if len(names) == 0 {
			names = []string{""}
		}
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					for _, name := range names {
						rights = append(rights, Right{Role: role, Verb: verb, Group: group, Resource: resource, Name: name})
					}
				}
			}
		}
	}
	return rights, nil
}
