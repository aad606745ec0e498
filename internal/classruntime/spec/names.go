package spec

import (
	"crypto/sha256"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	runtimev1 "github.com/statecraft-dev/statecraft/api/runtime/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/child"
)

// longestName leaves room for what others append to the name of a child, such as the hash of a ReplicaSet.
const longestName = 52

// Name is that of everything that a function is made of. It depends on the key alone, never on which other functions
// there are: else one that is added would rename, and so replace, those that run.
func Name(c *runtimev1.ClassRuntime, key string) string {
	if c.Spec.Naming == runtimev1.NamingHashed {
		return hashed(c.Name, key)
	}
	return plain(c.Name, key)
}

// plain has a hash only where the name would be too long. Class a-b with function c and class a with b-c share one.
func plain(class, key string) string {
	if name := class + "-" + key; len(name) <= longestName {
		return name
	}
	return hashed(class, key)
}

// hashed tells apart what runs together.
func hashed(class, key string) string {
	hash := fmt.Sprintf("%x", sha256.Sum256([]byte(class+"\x00"+key)))[:8]
	name := class + "-" + key
	return name[:min(len(name), longestName-1-len(hash))] + "-" + hash
}

// URL is where a Service answers.
func URL(namespace, service string, port int32) string {
	return fmt.Sprintf("http://%s.%s.svc:%d", service, namespace, port)
}

// selected are the labels by which the pods of a function are found. A selector cannot be changed, so
// nothing else is ever in it.
func selected(c *runtimev1.ClassRuntime, key string) map[string]string {
	return map[string]string{runtimev1.ClassLabel: c.Name, runtimev1.FunctionLabel: key}
}

// Owner is the owner reference of everything that belongs to a class.
func Owner(c *runtimev1.ClassRuntime) []metav1.OwnerReference {
	return child.Controller(c, runtimev1.GroupVersion.WithKind("ClassRuntime"))
}

// owned is the metadata of a child: garbage collection takes it with its class.
func owned(c *runtimev1.ClassRuntime, key string) metav1.ObjectMeta {
	labels := selected(c, key)
	labels["app.kubernetes.io/name"] = key
	labels["app.kubernetes.io/instance"] = c.Name
	labels["app.kubernetes.io/managed-by"] = "statecraft"
	return metav1.ObjectMeta{
		Namespace: c.Namespace, Name: Name(c, key), Labels: labels,
		Annotations: map[string]string{}, OwnerReferences: Owner(c),
	}
}
