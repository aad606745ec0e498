package audit

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
)

// Execution is what the cluster says of one.
type Execution struct {
	Namespace, Name string
	UID             types.UID
	// Seq and Hash are where its status says that its intent is; 0 is that it was not recorded.
	Seq  int64
	Hash string
	// Ended is when it ended; zero is that it has not.
	Ended time.Time
}

// ExecutionOf is what an object says.
func ExecutionOf(x *remediationv1.KubernetesExecution) Execution {
	e := Execution{Namespace: x.Namespace, Name: x.Name, UID: x.UID}
	if a := x.Status.Audit; a != nil {
		e.Seq, e.Hash = a.Seq, a.Hash
	}
	if at := x.Status.CompletionTimestamp; at != nil {
		e.Ended = at.Time
	}
	return e
}

func (x Execution) title() string {
	return "KubernetesExecution " + x.Namespace + "/" + x.Name + " (" + string(x.UID) + ")"
}
