package restorer

import (
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
)

// progressKey is beside the intent itself, which is written once.
const progressKey = "progress"

// ProgressOf reads how far a restore is from its intent; false if it says nothing that can be read.
func ProgressOf(cm *corev1.ConfigMap) (p meta.Progress, is bool) {
	if err := json.Unmarshal([]byte(cm.Data[progressKey]), &p); err != nil || p.Phase == "" {
		return meta.Progress{}, false
	}
	return p, true
}

// WithProgress is an intent that says how far the restore is.
func WithProgress(cm *corev1.ConfigMap, p *meta.Progress) (*corev1.ConfigMap, error) {
	text, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("encode progress: %w", err)
	}
	next := cm.DeepCopy()
	if next.Data == nil {
		next.Data = map[string]string{}
	}
	next.Data[progressKey] = string(text)
	return next, nil
}

// Begin is a restore that nothing is known of: it is Idle, as all are between two tasks. It
// takes no move to get there, or every restart would tell users that each restore was created.
func (r *Restore) Begin(since metav1.Time) {
	r.Status = Status{Progress: meta.Progress{Place: meta.Place{Phase: Machine.Start, Since: since}}}
}
