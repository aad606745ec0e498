package manifestrestore

import "k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

// Leans are the objects without which the API server refuses to create an item. In a dry run
// none that would be restored is there, so who leans on one cannot be tried: a real run has
// restored it by then.
func (i Item) Leans() []Key {
	switch {
	case i.Kind == "RoleBinding" && i.Group == "rbac.authorization.k8s.io":
		kind, _, _ := unstructured.NestedString(i.Object.Object, "roleRef", "kind")
		name, _, _ := unstructured.NestedString(i.Object.Object, "roleRef", "name")
		return []Key{{Group: i.Group, Kind: kind, Name: name}}
	case i.Kind == "Pod" && i.Group == "":
		name, _, _ := unstructured.NestedString(i.Object.Object, "spec", "serviceAccountName")
		return []Key{{Kind: "ServiceAccount", Name: name}}
	}
	return nil
}
