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
	Missing bool   `json:"missing,omitempty"` // the operator's own passwords are to be made
	Doubt   string `json:"doubt,omitempty"`   // what is wrong with what the user brings
	// Print tells the Secrets of one time from those of another; "" is not read, or none.
	Print string `json:"print,omitempty"`
	// Work is how far the work is that brings servers to it; one that Ended has succeeded.
	Work Migration `json:"work,omitempty"`
}

// ApplyAccess begins to bring the access to servers to what the Secrets say. It goes on
// beside the passes.
type ApplyAccess struct {
	Print string
	// Loaded says that servers have the certificates: they started with them, or only
	// passwords were changed.
	Loaded bool
	At     []Versioned
}

// Versioned is a server and its version.
type Versioned struct {
	Member
	Version string
}

func (ApplyAccess) effect()        {}
func (ApplyAccess) String() string { return "apply-access" }

// AccessWork names the work that brings the access of a cluster to one state.
func AccessWork(cluster, keys string) string { return cluster + "/" + keys }

// applyAccess lets servers have what the Secrets say, once all answer.
func applyAccess(in input) []fsm.Effect {
	w, applied := in.World, in.Obj.Status.Credentials
	if w.Access.Print == "" || w.Access.Print == applied || w.Access.Work != "" {
		return nil
	}
	e := ApplyAccess{Print: w.Access.Print, Loaded: applied == "" || access.SameCertificates(applied, w.Access.Print)}
	for _, n := range w.Nodes {
		if n.Server == nil {
			return nil
		}
		e.At = append(e.At, Versioned{memberOf(n), n.Server.Version})
	}
	return []fsm.Effect{e}
}

// noteAccess remembers which Secrets all servers have.
func noteAccess(out *valkeyv1.ValkeyCluster, w World) {
	if w.Access.Print != "" && w.Access.Work == Ended {
		out.Status.Credentials = w.Access.Print
	}
}

// accessCondition says whether servers have what the Secrets say.
func accessCondition(in input) (metav1.Condition, bool) {
	c, w := in.Obj, in.World
	if c.Spec.TLS == nil && c.Spec.Auth == nil || w.Access.Print == "" {
		return metav1.Condition{}, false
	}
	is := c.Status.Credentials == w.Access.Print
	condition := metav1.Condition{Type: valkeyv1.AccessApplied, Status: status(is), Reason: string(ReasonAccessApplied),
		Message: "all servers have the passwords and certificates of the Secrets"}
	if !is {
		condition.Reason, condition.Message = string(ReasonApplyingAccess), "servers are being told of changed passwords and certificates"
	}
	return condition, true
}
