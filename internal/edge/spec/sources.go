package spec

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Sources are the objects of its namespace that a pod's variables and files come from, as they were read, and by name.
// One that is not in the map was not found.
type Sources struct {
	ConfigMaps map[string]*corev1.ConfigMap
	Secrets    map[string]*corev1.Secret
	// DeliversSecrets says that the pool delivers Secrets, and that the namespace of the pod grants them.
	DeliversSecrets bool
}

// Needs names the ConfigMaps and Secrets that must be read before a pod can be converted.
func Needs(pod *corev1.Pod) (configMaps, secrets []string) {
	s := subject{pod: pod}
	for _, from := range s.container().EnvFrom {
		if from.ConfigMapRef != nil {
			configMaps = append(configMaps, from.ConfigMapRef.Name)
		}
		if from.SecretRef != nil {
			secrets = append(secrets, from.SecretRef.Name)
		}
	}
	for _, v := range s.container().Env {
		if v.ValueFrom == nil {
			continue
		}
		if ref := v.ValueFrom.ConfigMapKeyRef; ref != nil {
			configMaps = append(configMaps, ref.Name)
		}
		if ref := v.ValueFrom.SecretKeyRef; ref != nil {
			secrets = append(secrets, ref.Name)
		}
	}
	for _, v := range pod.Spec.Volumes {
		if v.ConfigMap != nil && len(s.mountsOf(v.Name)) > 0 {
			configMaps = append(configMaps, v.ConfigMap.Name)
		}
	}
	slices.Sort(configMaps)
	slices.Sort(secrets)
	return slices.Compact(configMaps), slices.Compact(secrets)
}

// missing is what a pod cannot be sent without, in a sentence.
func missing(kind, namespace, name, key string) string {
	if key == "" {
		return fmt.Sprintf("%s %s/%s does not exist: create it.", kind, namespace, name)
	}
	return fmt.Sprintf("%s %s/%s has no key %s: add it.", kind, namespace, name, key)
}

func optional(is *bool) bool { return is != nil && *is }
