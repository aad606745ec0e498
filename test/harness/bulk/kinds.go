// Package bulk fills namespaces with many objects of many kinds, keeps some of them changing, and
// reads what was captured of them.
package bulk

import (
	"fmt"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
)

// HowManyKinds there are.
const HowManyKinds = 20

// group is that of the kinds that are not built in.
const group = "many.example.com"

// Kind is one of the kinds. Some are built in; those cost nothing but their place in etcd.
type Kind struct {
	schema.GroupVersionResource
	Name   string
	fields func(text string) map[string]any // besides metadata
}

// Kinds are all of them.
func Kinds() []Kind {
	all := []Kind{
		{resource("", "configmaps"), "ConfigMap", func(text string) map[string]any { return map[string]any{"data": map[string]any{"text": text}} }},
		{resource("", "serviceaccounts"), "ServiceAccount", func(string) map[string]any { return nil }},
		{resource("", "podtemplates"), "PodTemplate", func(text string) map[string]any {
			return map[string]any{"template": map[string]any{"spec": pod(text)}}
		}},
		{resource("networking.k8s.io", "networkpolicies"), "NetworkPolicy", func(string) map[string]any {
			return map[string]any{"spec": map[string]any{"podSelector": map[string]any{"matchLabels": map[string]any{"a": "b"}}}}
		}},
		{resource("rbac.authorization.k8s.io", "roles"), "Role", func(string) map[string]any {
			return map[string]any{"rules": []any{map[string]any{"apiGroups": []any{""}, "resources": []any{"pods"}, "verbs": []any{"list"}}}}
		}},
		{resource("batch", "cronjobs"), "CronJob", func(text string) map[string]any {
			job := map[string]any{"spec": map[string]any{"template": map[string]any{"spec": pod(text)}}}
			return map[string]any{"spec": map[string]any{"suspend": true, "schedule": "0 0 1 1 *", "jobTemplate": job}}
		}},
	}
	for i := len(all); i < HowManyKinds; i++ {
		all = append(all, Kind{resource(group, fmt.Sprintf("things%d", i)), fmt.Sprintf("Thing%d", i),
			func(text string) map[string]any { return map[string]any{"spec": map[string]any{"text": text}} }})
	}
	return all
}

func resource(group, name string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: group, Version: "v1", Resource: name}
}

func pod(text string) map[string]any {
	return map[string]any{"restartPolicy": "Never", "containers": []any{map[string]any{"name": "a", "image": "a", "args": []any{text}}}}
}

// Selector selects all objects of all kinds.
func Selector() *capturev1.ManifestSelector {
	s := &capturev1.ManifestSelector{}
	for _, k := range Kinds() {
		s.Resources = append(s.Resources, capturev1.ManifestResource{Group: k.Group, Resource: k.Resource})
	}
	return s
}

// Install installs the kinds that are not built in.
func Install(t testing.TB, c client.Client) {
	t.Helper()
	keeps := true
	for _, k := range Kinds() {
		if k.Group != group {
			continue
		}
		err := c.Create(t.Context(), &apiextensionsv1.CustomResourceDefinition{
			ObjectMeta: metav1.ObjectMeta{Name: k.Resource + "." + k.Group},
			Spec: apiextensionsv1.CustomResourceDefinitionSpec{
				Group: k.Group, Scope: apiextensionsv1.NamespaceScoped,
				Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: k.Resource, Kind: k.Name},
				Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
					Name: "v1", Served: true, Storage: true,
					Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &keeps}},
				}},
			},
		})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			t.Fatal(err)
		}
	}
}
