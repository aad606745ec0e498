package ledger

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

const (
	accountPrefix = "system:serviceaccount:"
	// programs introduce themselves so. Tests that try what somebody could do with an account do not.
	programPrefix = "statecraft-"

	decided = "authorization.k8s.io/decision"
	because = "authorization.k8s.io/reason"
)

// Impersonated is added to the name of an account as whom another acts: a namespace's account has the name of a manager's.
const Impersonated = ", impersonated"

// Use is a request of one of our programs, as one line of an audit log tells it.
type Use struct {
	Did     Right  // by the role that allowed it
	Account string // who did it, without its namespace
	AtHome  bool   // in the namespace of the account
	Refused bool   // no role allowed it
}

// event is the part of an audit event that a Use is made of.
type event struct {
	Stage            string
	Verb             string
	User             struct{ Username string }
	ImpersonatedUser struct{ Username string }
	// AuthenticationMetadata has the verb of a constrained impersonation, for example impersonate:serviceaccount.
	AuthenticationMetadata struct{ ImpersonationConstraint string }
	UserAgent              string
	ObjectRef              struct {
		APIGroup, Resource, Subresource, Namespace, Name string
	}
	ResponseStatus struct{ Code int }
	Annotations    map[string]string
}

// Uses reads a line of an audit log. Most lines have none, some have two.
func Uses(line []byte) ([]Use, error) {
	var e event
	if err := json.Unmarshal(line, &e); err != nil {
		return nil, fmt.Errorf("parse audit event: %w", err)
	}
	if e.isOther() {
		return nil, nil
	}
	var uses []Use
	use := Use{Did: e.did(), Account: accountOf(e.User.Username)}
	if as := e.ImpersonatedUser.Username; as != "" {
		for _, did := range e.impersonated(accountOf(as)) {
			uses = append(uses, Use{Did: did, Account: use.Account})
		}
		use.Account = accountOf(as) + Impersonated
	} else {
		use.AtHome = strings.HasPrefix(e.User.Username, accountPrefix+e.ObjectRef.Namespace+":")
	}
	if use.Refused = e.Annotations[decided] == "forbid"; use.Refused {
		return append(uses, use), nil
	}
	var err error
	if use.Did.Role, err = allowedBy(e.Annotations[because]); err != nil {
		return nil, err
	}
	uses = append(uses, use)
	if use.Did.Verb == "patch" && e.ResponseStatus.Code == http.StatusCreated { // apply needs both to make an object
		use.Did.Verb = "create"
		uses = append(uses, use)
	}
	return uses, nil
}

// impersonated are the rights to act as another account. The log does not say which role allowed that. Roles of the account that
// can are as good. A constrained impersonation needs two: to act as that account, and to do this as any.
func (e event) impersonated(as string) []Right {
	constraint := e.AuthenticationMetadata.ImpersonationConstraint
	mode, constrained := strings.CutPrefix(constraint, "impersonate:")
	if !constrained {
		return []Right{{Verb: "impersonate", Resource: "serviceaccounts", Name: as}}
	}
	on := e.did()
	on.Verb, on.Name = "impersonate-on:"+mode+":"+e.Verb, ""
	return []Right{{Verb: constraint, Group: "authentication.k8s.io", Resource: "serviceaccounts", Name: as}, on}
}

// isOther says that the line shows no right in use: it is of somebody else, no resource is concerned, the request was
// not decided about yet, or the line is the second one of a watch.
func (e event) isOther() bool {
	return !strings.HasPrefix(e.User.Username, accountPrefix) || !strings.HasPrefix(e.UserAgent, programPrefix) ||
		e.ObjectRef.Resource == "" || e.Annotations[decided] == "" || e.Verb == "watch" && e.Stage != "ResponseStarted"
}

func (e event) did() Right {
	r := Right{Verb: e.Verb, Group: e.ObjectRef.APIGroup, Resource: e.ObjectRef.Resource, Name: e.ObjectRef.Name}
	if sub := e.ObjectRef.Subresource; sub != "" {
		r.Resource += "/" + sub
	}
	return r
}

// allowedBy reads which role a request was allowed by:
// RBAC: allowed by RoleBinding "a/b" of ClusterRole "c" to ServiceAccount "d/b".
func allowedBy(reason string) (Role, error) {
	for _, kind := range []string{"ClusterRole", "Role"} {
		if name, err := quoted(reason, " of "+kind); err == nil {
			return Role{kind, name}, nil
		}
	}
	return Role{}, fmt.Errorf("no role allowed a request: %q", reason)
}

// accountOf is the name of an account, which is the same in every namespace.
func accountOf(user string) string { return user[strings.LastIndex(user, ":")+1:] }
