package manifestrestore

import "k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

// serverFields are what the API server writes into metadata. A capture has none of them;
// an object that has must not be created with them all the same.
var serverFields = []string{
	"uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds",
	"managedFields", "selfLink", "generateName", "finalizers",
}

// adapt is a captured object as it is written into another namespace.
func adapt(obj *unstructured.Unstructured, t Task) *unstructured.Unstructured {
	out := obj.DeepCopy()
	for _, field := range serverFields {
		unstructured.RemoveNestedField(out.Object, "metadata", field)
	}
	unstructured.RemoveNestedField(out.Object, "status")
	annotations := out.GetAnnotations()
	delete(annotations, MarkAnnotation) // of the restore that made what was captured
	if len(annotations) == 0 {
		annotations = nil
	}
	out.SetAnnotations(annotations)
	out.SetNamespace(t.Into)
	if key := KeyOf(out); key.Kind == "RoleBinding" && key.Group == "rbac.authorization.k8s.io" {
		rebind(out, t)
	}
	if spec := out.Object["spec"]; len(t.Classes) > 0 && namesClasses(KeyOf(out)) {
		reclass(spec, t)
	}
	return out
}

// rebind lets a RoleBinding name the ServiceAccounts of the new namespace where it named
// those of the old: otherwise pods of the old one would get rights in the new.
func rebind(binding *unstructured.Unstructured, t Task) {
	subjects, _, _ := unstructured.NestedSlice(binding.Object, "subjects")
	for _, s := range subjects {
		subject, is := s.(map[string]any)
		if is && subject["kind"] == "ServiceAccount" && subject["namespace"] == t.From {
			subject["namespace"] = t.Into
		}
	}
	if len(subjects) > 0 {
		_ = unstructured.SetNestedSlice(binding.Object, subjects, "subjects") // it was read from there
	}
}

// namesClasses says that whatever is called storageClassName in the spec of an object is one: in a claim, and in the
// templates of claims that workloads have. Of kinds that are not Kubernetes' own nobody knows.
func namesClasses(k Key) bool { return k.Group == "" || k.Group == "apps" || k.Group == "batch" }

// reclass replaces storage classes wherever they are named.
func reclass(node any, t Task) {
	switch n := node.(type) {
	case []any:
		for _, item := range n {
			reclass(item, t)
		}
	case map[string]any:
		for key, value := range n {
			if class, is := value.(string); is && key == "storageClassName" {
				n[key] = t.classOf(class)
				continue
			}
			reclass(value, t)
		}
	}
}

func (t Task) classOf(class string) string {
	for _, m := range t.Classes {
		if m.From == class {
			return m.To
		}
	}
	return class
}
