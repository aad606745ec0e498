package restorer

import (
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Intent is all that is needed to ask the driver for a volume, once more, after everything
// else has gone; and to make the PersistentVolume of it.
type Intent struct {
	Request Ref   `json:"request"`
	Claim   Ref   `json:"claim"`
	Plan    Plan  `json:"plan"`
	Shape   Shape `json:"shape"`
}

// For says that the intent is of this very request, and of this driver. A claim names its request by annotations
// that anybody can write, so one in another namespace may name this one's UID; and another driver would look for a
// volume that it does not have, and take it for one that was never made.
func (i Intent) For(r *Restore, driver string) bool {
	return i.Request == Ref{r.Namespace, r.Name, r.UID} && i.Plan.Driver == driver
}

// Ref names an object for good.
type Ref struct {
	Namespace string    `json:"namespace"`
	Name      string    `json:"name"`
	UID       types.UID `json:"uid"`
}

// Plan is what the driver is asked for.
type Plan struct {
	Driver      string                              `json:"driver"`
	Name        string                              `json:"name"`
	Snapshot    string                              `json:"snapshot"`
	Bytes       int64                               `json:"bytes"`
	Parameters  map[string]string                   `json:"parameters,omitempty"`
	AccessModes []corev1.PersistentVolumeAccessMode `json:"accessModes,omitempty"`
	Block       bool                                `json:"block,omitempty"`
	FSType      string                              `json:"fsType,omitempty"`
	MountFlags  []string                            `json:"mountFlags,omitempty"`
	// Topology is where the volume must be reachable; empty is left to the driver.
	Topology []map[string]string `json:"topology,omitempty"`
	// Secret is what the driver needs to make and delete volumes. What is in it is read
	// when it is needed, and never written down.
	Secret *corev1.SecretReference `json:"secret,omitempty"`
}

// Shape is what the PersistentVolume has besides what the driver answers.
type Shape struct {
	ClassName         string                               `json:"className,omitempty"`
	ReclaimPolicy     corev1.PersistentVolumeReclaimPolicy `json:"reclaimPolicy,omitempty"`
	ControllerPublish *corev1.SecretReference              `json:"controllerPublish,omitempty"`
	ControllerExpand  *corev1.SecretReference              `json:"controllerExpand,omitempty"`
	NodeStage         *corev1.SecretReference              `json:"nodeStage,omitempty"`
	NodePublish       *corev1.SecretReference              `json:"nodePublish,omitempty"`
	NodeExpand        *corev1.SecretReference              `json:"nodeExpand,omitempty"`
}

const (
	intentKey = "intent"
	// IntentLabel is on every intent; its value is the driver.
	IntentLabel = "capture.statecraft.dev/restorer"
)

// ConfigMap is an intent as it is stored.
func (i Intent) ConfigMap(namespace string) (*corev1.ConfigMap, error) {
	text, err := json.Marshal(i)
	if err != nil {
		return nil, fmt.Errorf("encode intent: %w", err)
	}
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: VolumeName(i.Request.UID), Labels: map[string]string{IntentLabel: i.Plan.Driver},
		},
		Data: map[string]string{intentKey: string(text)},
	}, nil
}

// ParseIntent reads what ConfigMap wrote.
func ParseIntent(cm *corev1.ConfigMap) (i Intent, err error) {
	if err := json.Unmarshal([]byte(cm.Data[intentKey]), &i); err != nil {
		return i, fmt.Errorf("decode intent %s: %w", cm.Name, err)
	}
	if VolumeName(i.Request.UID) != cm.Name || i.Plan.Name != cm.Name {
		return i, fmt.Errorf("decode intent %s: it is of %s", cm.Name, i.Request.UID)
	}
	return i, nil
}
