package cluster

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/valkey/access"
)

// Access is what servers need before they can start, and then how far a change of it is:
// passwords and certificates.
type Access struct {
	Missing bool   `json:"missing,omitempty"` // what the operator itself keeps is to be made
	Doubt   string `json:"doubt,omitempty"`   // what is wrong with what the user brings
	// Forbidden says that the manager may not read Secrets of the namespace.
	Forbidden bool `json:"forbidden,omitempty"`
	// Print tells the Secrets of one time from those of another; "" is not read, or none.
	Print string `json:"print,omitempty"`
	// Rotation is the number that the operator's own passwords were made for.
	Rotation string `json:"rotation,omitempty"`
	// Starts tells the servers that answer from those before, where one has started again.
	Starts string `json:"starts,omitempty"`
	// Unstaged says that there are no certificates for the files of servers.
	Unstaged bool `json:"unstaged,omitempty"`
	// Work is how far the work is that brings these servers to these Secrets; one that Ended
	// has succeeded.
	Work Migration `json:"work,omitempty"`
}

// ApplyAccess begins to bring the access to servers to what the Secrets say. It goes on
// beside the passes.
type ApplyAccess struct {
	Print, Starts string
	// Loaded says that servers are known to work with the certificates: they started with
	// them, or only passwords were changed.
	Loaded bool
	At     []Versioned
	// Partial says that some servers are silent: only what can do without them is done.
	Partial bool
}

// ChangePasswords makes new passwords of the operator's own users, unless those that there
// are were made for this number. Servers hear of them later.
type ChangePasswords struct{ Rotation string }

// Versioned is a server and its version.
type Versioned struct {
	Member
	Version string
}

func (ApplyAccess) effect()            {}
func (ApplyAccess) String() string     { return "apply-access" }
func (ChangePasswords) effect()        {}
func (ChangePasswords) String() string { return "change-passwords" }

// AccessWork names what the work is for that brings servers to some Secrets.
func AccessWork(keys, starts string) string { return keys + " " + starts }

// applyAccess lets servers have what the Secrets say, once all answer. They are looked at
// again when one has started: its files may have been those of before. Certificates have an
// end, which does not wait for a server that is silent.
func applyAccess(in input) []fsm.Effect {
	w, applied := in.World, in.Obj.Status.Credentials
	if w.Access.Print == "" || w.Access.Work == Moving {
		return nil
	}
	if wanted, other := rotation(in); other {
		return []fsm.Effect{ChangePasswords{wanted}}
	}
	if w.Access.Work == Ended {
		return nil
	}
	e := ApplyAccess{Print: w.Access.Print, Starts: w.Access.Starts, Loaded: applied == "" || access.SameCertificates(applied, w.Access.Print)}
	for _, n := range w.Nodes {
		if n.Server == nil {
			e.Partial = true
			continue
		}
		e.At = append(e.At, Versioned{memberOf(n), n.Server.Version})
	}
	if e.Partial && e.Loaded && !w.Access.Unstaged {
		return nil
	}
	return []fsm.Effect{e}
}

// rotation is the number that the spec wants the operator's own passwords to be of, if they
// are of another.
func rotation(in input) (wanted string, other bool) {
	if in.Obj.Spec.Auth == nil || in.World.Access.Print == "" {
		return "", false
	}
	wanted = words(int(in.Obj.Spec.Auth.Rotation))
	return wanted, wanted != in.World.Access.Rotation
}

// noteAccess remembers which Secrets all servers have.
func noteAccess(out *valkeyv1.ValkeyCluster, w World) {
	if _, silent := w.Nodes.Silent(); w.Access.Print != "" && w.Access.Work == Ended && !silent {
		out.Status.Credentials = w.Access.Print
	}
}

// waitForSecrets waits for a right that the platform team gives by namespace.
func waitForSecrets(c *valkeyv1.ValkeyCluster) fsm.Decision {
	return fsm.Wait(ReasonSecretsForbidden, "children").In(recheck).Because("The manager may not read Secrets of namespace %s; "+
		"bind ClusterRole statecraft-valkey-secrets there to the manager's ServiceAccount statecraft-valkey, or list the namespace in "+
		"areas.valkey.secretsIn of the chart.", c.Namespace)
}

// accessDoubt is what is wrong with what the user brings.
func accessDoubt(w World) string { return w.Access.Doubt + "; create or correct the Secret." }

// accessCondition says whether servers have what the Secrets say.
func accessCondition(in input) (metav1.Condition, bool) {
	c, w := in.Obj, in.World
	if c.Spec.TLS == nil && c.Spec.Auth == nil || w.Access.Print == "" {
		return metav1.Condition{}, false
	}
	_, other := rotation(in)
	is := c.Status.Credentials == w.Access.Print && !other && w.Access.Doubt == ""
	condition := metav1.Condition{Type: valkeyv1.AccessApplied, Status: status(is), Reason: string(ReasonAccessApplied),
		Message: "All servers have the passwords and certificates of the Secrets."}
	switch {
	case w.Access.Doubt != "":
		condition.Reason, condition.Message = string(ReasonCredentialsMissing), accessDoubt(w)
	case !is:
		condition.Reason, condition.Message = string(ReasonApplyingAccess), "The manager tells the servers of changed passwords and certificates."
		if n, silent := w.Nodes.Silent(); silent && w.Access.Work != Moving {
			condition.Message = n.Name + " does not answer: the manager tells the servers of changed passwords and certificates once all answer."
		}
	}
	return condition, true
}
