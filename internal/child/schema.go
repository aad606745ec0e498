package child

import (
	"reflect"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// NOTE: the API server says in its schema which lists have keys and what is atomic; Go types
// say so in comments only. A test compares this with the schema, for all that is built.

// listKeys are the keys of lists, by the type of their items. A list without is atomic.
var listKeys = map[reflect.Type][]string{
	reflect.TypeFor[corev1.Container]():                {"name"},
	reflect.TypeFor[corev1.EphemeralContainer]():       {"name"},
	reflect.TypeFor[corev1.EnvVar]():                   {"name"},
	reflect.TypeFor[corev1.ContainerPort]():            {"containerPort", "protocol"},
	reflect.TypeFor[corev1.VolumeDevice]():             {"devicePath"},
	reflect.TypeFor[corev1.VolumeMount]():              {"mountPath"},
	reflect.TypeFor[corev1.Volume]():                   {"name"},
	reflect.TypeFor[corev1.HostAlias]():                {"ip"},
	reflect.TypeFor[corev1.LocalObjectReference]():     {"name"},
	reflect.TypeFor[corev1.ObjectReference]():          {"name"},
	reflect.TypeFor[corev1.PodResourceClaim]():         {"name"},
	reflect.TypeFor[corev1.PodSchedulingGate]():        {"name"},
	reflect.TypeFor[corev1.ResourceClaim]():            {"name"},
	reflect.TypeFor[corev1.TopologySpreadConstraint](): {"topologyKey", "whenUnsatisfiable"},
	reflect.TypeFor[corev1.ServicePort]():              {"port", "protocol"},
	reflect.TypeFor[metav1.OwnerReference]():           {"uid"},
}

// keyDefaults are the values of keys that nobody set.
var keyDefaults = map[string]any{"protocol": string(corev1.ProtocolTCP)}

// atomics are structs of which one manager owns all. True are those without defaults: what
// is added to them differs.
var atomics = map[reflect.Type]bool{
	reflect.TypeFor[metav1.LabelSelector]():             true,
	reflect.TypeFor[metav1.OwnerReference]():            false,
	reflect.TypeFor[corev1.ConfigMapKeySelector]():      false,
	reflect.TypeFor[corev1.SecretKeySelector]():         false,
	reflect.TypeFor[corev1.ObjectFieldSelector]():       false,
	reflect.TypeFor[corev1.ResourceFieldSelector]():     false,
	reflect.TypeFor[corev1.LocalObjectReference]():      false,
	reflect.TypeFor[corev1.TypedLocalObjectReference](): false,
	reflect.TypeFor[corev1.ObjectReference]():           false,
	reflect.TypeFor[corev1.SecretReference]():           false,
	reflect.TypeFor[corev1.NodeSelector]():              true,
	reflect.TypeFor[corev1.NodeSelectorTerm]():          true,
	reflect.TypeFor[networkingv1.ServiceBackendPort]():  false,
	reflect.TypeFor[rbacv1.RoleRef]():                   false,
	reflect.TypeFor[rbacv1.Subject]():                   false,
}

type member struct {
	of   reflect.Type
	name string
}

// atomicMaps are maps of which one manager owns all keys.
var atomicMaps = map[member]bool{
	{reflect.TypeFor[corev1.ServiceSpec](), "selector"}:               true,
	{reflect.TypeFor[corev1.PodSpec](), "nodeSelector"}:               true,
	{reflect.TypeFor[metav1.LabelSelector](), "matchLabels"}:          true,
	{reflect.TypeFor[corev1.ReplicationControllerSpec](), "selector"}: true,
}

func isAtomic(t reflect.Type) bool { _, is := atomics[deref(t)]; return is }

func isExact(t reflect.Type) bool { return atomics[deref(t)] }

func isAtomicMap(of reflect.Type, name string) bool { return atomicMaps[member{deref(of), name}] }

// isSet says that managers share a list of scalars.
func isSet(at Field) bool { return at.String() == ".metadata.finalizers" }

func keysOf(item reflect.Type) []string { return listKeys[deref(item)] }

// keyOf is the key of an item, with the defaults of what it leaves out.
func keyOf(item map[string]any, keys []string) value.FieldList {
	list := value.FieldList{}
	for _, name := range keys {
		v, set := item[name]
		if !set {
			v = keyDefaults[name]
		}
		list = append(list, value.Field{Name: name, Value: value.NewValueInterface(v)})
	}
	list.Sort()
	return list
}

// isTypeMeta says that a field names the type of an object, or of one in it. Not every
// encoding carries that, and nobody can change it.
func isTypeMeta(of reflect.Type, name string) bool {
	return (name == "apiVersion" || name == "kind") && embedsTypeMeta(of)
}

func embedsTypeMeta(of reflect.Type) bool {
	t := deref(of)
	if t == nil || t.Kind() != reflect.Struct {
		return false
	}
	f, found := t.FieldByName("TypeMeta")
	return found && f.Type == reflect.TypeFor[metav1.TypeMeta]()
}

func isPointer(t reflect.Type) bool { return t == nil || t.Kind() == reflect.Pointer }

func deref(t reflect.Type) reflect.Type {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

func itemType(list reflect.Type) reflect.Type {
	if t := deref(list); t != nil && t.Kind() == reflect.Slice {
		return t.Elem()
	}
	return nil
}

// fieldType is the type of a field by its name in JSON; nil is not known.
func fieldType(of reflect.Type, name string) reflect.Type {
	t := deref(of)
	switch {
	case t == nil:
	case t.Kind() == reflect.Map:
		return t.Elem()
	case t.Kind() == reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			tag, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			if tag == name && name != "" {
				return f.Type
			}
			if f.Anonymous && tag == "" || options == "inline" {
				if inner := fieldType(f.Type, name); inner != nil {
					return inner
				}
			}
		}
	}
	return nil
}
