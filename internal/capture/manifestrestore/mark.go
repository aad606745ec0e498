package manifestrestore

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/types"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
)

// MarkAnnotation is on every object that a restore wrote. It says by which request, so that
// after a crash it is told from what was there before.
const MarkAnnotation = "capture.statecraft.dev/restored"

// Mark is what the annotation says.
type Mark struct {
	By      types.UID               `json:"by"`
	As      capturev1.RestoreResult `json:"as"`
	Changed []string                `json:"changed,omitempty"`
}

// String is the value of the annotation.
func (m Mark) String() string {
	text, err := json.Marshal(m)
	if err != nil {
		panic(err) // strings only
	}
	return string(text)
}

// markOf reads the mark of a request. Anybody else's, or none, is the zero value.
func markOf(annotations map[string]string, by types.UID) Mark {
	var m Mark
	if err := json.Unmarshal([]byte(annotations[MarkAnnotation]), &m); err != nil || by == "" || m.By != by {
		return Mark{}
	}
	return m
}
