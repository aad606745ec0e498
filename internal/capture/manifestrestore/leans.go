package manifestrestore

import "k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

// Leans are the objects without which the API server refuses to create an item. In a dry run
// none that would be restored is there, so who leans on one cannot be tried: a real run has
// restored it by then.
func (o Outline) Leans() []Key { return o.leans }

func leans(obj *unstructured.Unstructured) []Key {
	switch key := KeyOf(obj); {
	case key.Kind == "RoleBinding" && key.Group == "rbac.authorization.k8s.io":
		kind, _, _ := unstructured.NestedString(obj.Object, "roleRef", "kind")
		name, _, _ := unstructured.NestedString(obj.Object, "roleRef", "name")
		return []Key{{Group: key.Group, Kind: kind, Name: name}}
	case key.Kind == "Pod" && key.Group == "":
		name, _, _ := unstructured.NestedString(obj.Object, "spec", "serviceAccountName")
		return []Key{{Kind: "ServiceAccount", Name: name}}
	}
	return nil
}
