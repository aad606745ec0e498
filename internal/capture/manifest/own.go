package manifest

import (
	"fmt"
	"slices"
	"strings"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
)

// ownRoles is what the names of the area's own ClusterRoles begin with.
const ownRoles = "statecraft-capture-"

// binding is what counts of a RoleBinding.
type binding struct {
	namespace string
	role      party
	subjects  []party
}

// party is what a binding names.
type party struct {
	Kind      string `json:"kind"`
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
}

// isOwn says that it lets a namespace be captured and restored, and does nothing else. Who restores needs all of that
// before, so in the namespace that is restored into it is there, or something else is in its place.
func (b binding) isOwn() bool {
	if b.role.Kind == "ClusterRole" && strings.HasPrefix(b.role.Name, ownRoles) {
		return true
	}
	account := party{"ServiceAccount", request.Account, b.namespace}
	return len(b.subjects) > 0 && !slices.ContainsFunc(b.subjects, func(s party) bool { return s != account })
}

// rights tells the roles of the account from those of users. Bindings are read before the roles that they name.
type rights struct {
	own  map[string]bool // roles that bindings name which are left out
	used map[string]bool // roles that others name
}

// skipped is why a Role or a RoleBinding is left out, if so.
func (r *rights) skipped(o object) (meta.Reason, error) {
	own := false
	switch o.Title() {
	case "rolebindings.rbac.authorization.k8s.io":
		b, err := o.binding()
		if err != nil {
			return "", err
		}
		if own = b.isOwn(); b.role.Kind == "Role" {
			r.note(b.role.Name, own)
		}
	case "roles.rbac.authorization.k8s.io":
		own = r.own[o.name] && !r.used[o.name]
	}
	if own {
		return ReasonOwnAccount, nil
	}
	return "", nil
}

func (r *rights) note(role string, own bool) {
	if r.own == nil {
		r.own, r.used = map[string]bool{}, map[string]bool{}
	}
	if own {
		r.own[role] = true
	} else {
		r.used[role] = true
	}
}

func (o object) binding() (b binding, err error) {
	for _, f := range []struct {
		raw  []byte
		into any
	}{{value(o.meta, "namespace"), &b.namespace}, {o.field("roleRef"), &b.role}, {o.field("subjects"), &b.subjects}} {
		if err := as(f.raw, f.into); err != nil {
			return b, fmt.Errorf("read binding: %w", err)
		}
	}
	return b, nil
}
