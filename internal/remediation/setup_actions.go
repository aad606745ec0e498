package remediation

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/config"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/remediation/act"
)

// The built-in actions are made by the manager: a chart cannot have objects of kinds that it brings itself.
//
// +kubebuilder:rbac:groups=remediation.statecraft.dev,resources=actiondefinitions,verbs=create;delete

// catalogueEvery is how soon a built-in action is there again after a user deleted it.
const catalogueEvery = time.Minute

func setupCatalogue(a *kube.Area) error {
	definitions, err := builtins(a.Env.Namespace)
	if err != nil {
		return err
	}
	c := act.Catalogue{Writer: a.Env.Writer("catalogue"), Live: a.Env.LiveReader(), Builtins: definitions}
	return a.Every("built-in actions", catalogueEvery, c.Keep)
}

// builtins are the ActionDefinitions that are shipped.
func builtins(namespace string) (all []*remediationv1.ActionDefinition, err error) {
	objects, err := config.Objects("remediation", namespace, config.Defaults)
	if err != nil {
		return nil, fmt.Errorf("read built-in actions: %w", err)
	}
	for _, object := range objects {
		if object.GetKind() != "ActionDefinition" {
			continue
		}
		def := &remediationv1.ActionDefinition{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(object.Object, def, true); err != nil {
			return nil, fmt.Errorf("read built-in action %s: %w", object.GetName(), err)
		}
		all = append(all, def)
	}
	return all, nil
}
