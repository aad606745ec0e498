package request

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// Limits are what the operator allows, so that no user fills etcd or a backend. 0 is without a limit.
type Limits struct {
	// Retention is how long a capture may outlive its request.
	Retention time.Duration `json:"retention,omitempty"`
	// Captures is how many of a kind a namespace may keep, and Kept how many it keeps without this one. What outlives
	// its request counts: no ResourceQuota sees it.
	Captures int `json:"captures,omitempty"`
	Kept     int `json:"kept,omitempty"`
}

// Refusal is why a capture is not begun; given is false if nothing speaks against it.
func (l Limits) Refusal(namespace string, retain *metav1.Duration) (why fsm.Reason, message string, given bool) {
	switch {
	case l.Retention > 0 && retain != nil && retain.Duration > l.Retention:
		return capturev1.ReasonRetentionTooLong, fmt.Sprintf("retainAfterDeletion is %s, but the operator allows at most %s; "+
			"ask for less in another request.", retain.Duration, l.Retention), true
	case l.Captures > 0 && l.Kept >= l.Captures:
		return capturev1.ReasonOverBudget, fmt.Sprintf("Namespace %s keeps %d captures of this kind, and the operator allows no more. "+
			"Those that outlive their request count; statecraft-captures list shows them. "+
			"Delete some, or wait until some expire, and make another request.", namespace, l.Kept), true
	}
	return "", "", false
}
