package manifest

import (
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
)

// object is an object as it was sent, split.
type object struct {
	Resource
	fields []field // of the object
	meta   []field // of its metadata
	name   string
}

func split(r Resource, raw []byte) (object, error) {
	o := object{Resource: r}
	var err error
	if o.fields, err = fieldsOf(raw); err != nil {
		return o, fmt.Errorf("split object: %w", err)
	}
	if o.meta, err = fieldsOf(o.field("metadata")); err != nil {
		return o, fmt.Errorf("split metadata: %w", err)
	}
	if err := json.Unmarshal(value(o.meta, "name"), &o.name); err != nil {
		return o, fmt.Errorf("read name: %w", errSyntax)
	}
	return o, nil
}

func value(fields []field, name string) []byte {
	for _, f := range fields {
		if f.name == name {
			return f.value
		}
	}
	return nil
}

func (o object) field(name string) []byte { return value(o.fields, name) }

// as decodes a field; one that is absent leaves into as it is.
func as(raw []byte, into any) error {
	if raw == nil {
		return nil
	}
	return utiljson.Unmarshal(raw, into)
}

// skipped is why the object is left out, if so.
func (o object) skipped() (meta.Reason, error) {
	if value(o.meta, "deletionTimestamp") != nil {
		return ReasonTerminating, nil
	}
	if raw := value(o.meta, "ownerReferences"); raw != nil {
		var owners []metav1.OwnerReference
		if err := as(raw, &owners); err != nil {
			return "", fmt.Errorf("read owners: %w", err)
		}
		for _, owner := range owners {
			if owner.Controller == nil || !*owner.Controller {
				continue
			}
			if why := o.controlledBy(owner); why != "" {
				return why, nil
			}
		}
	}
	return o.special()
}

// controlledBy is why an object is left out because of its controller, if so. The claim of a rehearsal goes with its
// request, which is left out as well.
func (o object) controlledBy(owner metav1.OwnerReference) meta.Reason {
	switch {
	case o.remadeBy(owner):
		return ReasonControlled
	case request.Keeps(owner):
		return ReasonOwnRequest
	}
	return ""
}

// remadeBy says that a controller makes the object again as it was. Of a claim it makes an empty
// one, unless the volume was never meant to outlive its pod.
func (o object) remadeBy(owner metav1.OwnerReference) bool {
	return !o.is("", "persistentvolumeclaims") || owner.Kind == "Pod"
}

// given are objects that every namespace has: by itself, or to be captured and restored.
var given = map[string]meta.Reason{
	"configmaps/kube-root-ca.crt":         ReasonDerived,
	"configmaps/istio-ca-root-cert":       ReasonDerived,
	"configmaps/openshift-service-ca.crt": ReasonDerived,
	"serviceaccounts/default":             ReasonDerived,
	"serviceaccounts/" + request.Account:  ReasonOwnAccount,
}

// special are objects that are left out because of what they are.
func (o object) special() (meta.Reason, error) {
	switch o.Title() {
	case "configmaps", "serviceaccounts":
		return given[o.Title()+"/"+o.name], nil
	case "endpoints":
		var labels map[string]string
		if err := as(value(o.meta, "labels"), &labels); err != nil {
			return "", fmt.Errorf("read labels: %w", err)
		}
		if labels["endpoints.kubernetes.io/managed-by"] != "" {
			return ReasonDerived, nil
		}
	case "secrets":
		var kind string
		if err := as(o.field("type"), &kind); err != nil {
			return "", fmt.Errorf("read type: %w", errSyntax) // without its text
		}
		if kind == "kubernetes.io/service-account-token" {
			return ReasonToken, nil
		}
	case "jobs.batch", "pods":
		return o.finished()
	}
	return "", nil
}

func (o object) finished() (meta.Reason, error) {
	var status struct {
		Phase      string `json:"phase"`
		Conditions []struct {
			Type   string                 `json:"type"`
			Status metav1.ConditionStatus `json:"status"`
		} `json:"conditions"`
	}
	if err := as(o.field("status"), &status); err != nil {
		return "", fmt.Errorf("read status: %w", err)
	}
	if status.Phase == "Succeeded" || status.Phase == "Failed" {
		return ReasonFinished, nil
	}
	for _, c := range status.Conditions {
		if (c.Type == "Complete" || c.Type == "Failed") && c.Status == metav1.ConditionTrue {
			return ReasonFinished, nil
		}
	}
	return "", nil
}
