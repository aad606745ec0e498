package explain

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/explain"
)

// Kind is what this package explains.
const Kind = "KubernetesExecution"

// Sections are the details of an execution, as status shows them.
func Sections(obj *unstructured.Unstructured, now time.Time) ([]explain.Section, error) {
	x, err := Read(obj)
	if err != nil {
		return nil, err
	}
	return []explain.Section{Plan(x, now), approvalOf(x), Effect(x), wayBack(x)}, nil
}

// Read takes an execution from what was read.
func Read(obj *unstructured.Unstructured) (*remediationv1.KubernetesExecution, error) {
	x := &remediationv1.KubernetesExecution{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, x); err != nil {
		return nil, fmt.Errorf("read execution: %w", err)
	}
	return x, nil
}

// Title names an execution.
func Title(x *remediationv1.KubernetesExecution) string {
	return Kind + " " + x.Namespace + "/" + x.Name
}

func requesterOf(x *remediationv1.KubernetesExecution) string {
	if x.Spec.Requester == nil {
		return ""
	}
	return x.Spec.Requester.Username
}

// call is an action with its parameters, as a person could write them.
func call(action string, parameters map[string]apiextensionsv1.JSON) string {
	text, err := json.Marshal(parameters) // sorted by name
	if err != nil || len(parameters) == 0 {
		return action
	}
	return action + " " + string(text)
}

func title(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// sentence ends a text as one.
func sentence(text string) string {
	if text == "" || strings.HasSuffix(text, ".") {
		return text
	}
	return text + "."
}
