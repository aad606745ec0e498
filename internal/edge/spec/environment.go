package spec

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// environment are the variables of a container, as they are when the pod is sent.
type environment struct {
	names   []string // in the order in which they were set first
	values  map[string]string
	leftOut []string
	missing []string
}

func (e *environment) put(name, value string) {
	if _, known := e.values[name]; !known {
		e.names = append(e.names, name)
	}
	e.values[name] = value
}

func (e *environment) lacks(what string) {
	if !slices.Contains(e.missing, what) {
		e.missing = append(e.missing, what)
	}
}

// environmentOf sets variables in the order in which kubelets do: whole objects first, then one by one, each with what was
// set before it.
func environmentOf(s subject) environment {
	e := environment{values: map[string]string{}}
	for _, from := range s.container().EnvFrom {
		e.fromObject(s, from)
	}
	for _, v := range s.container().Env {
		if v.ValueFrom == nil {
			e.put(v.Name, expand(v.Value, e.values))
		} else if value, is := e.fromSource(s, v.ValueFrom); is {
			e.put(v.Name, value)
		}
	}
	return e
}

// fromObject takes all keys of a ConfigMap or a Secret. A key that is no name of a variable is left out, as by kubelets.
func (e *environment) fromObject(s subject, from corev1.EnvFromSource) {
	var data map[string]string
	switch {
	case from.ConfigMapRef != nil:
		cm := s.from.ConfigMaps[from.ConfigMapRef.Name]
		if cm == nil {
			if !optional(from.ConfigMapRef.Optional) {
				e.lacks(missing("ConfigMap", s.pod.Namespace, from.ConfigMapRef.Name, ""))
			}
			return
		}
		data = cm.Data
	case from.SecretRef != nil:
		secret := s.from.Secrets[from.SecretRef.Name]
		if secret == nil {
			if !optional(from.SecretRef.Optional) {
				e.lacks(missing("Secret", s.pod.Namespace, from.SecretRef.Name, ""))
			}
			return
		}
		data = texts(secret.Data)
	}
	for _, k := range slices.Sorted(maps.Keys(data)) {
		if name := from.Prefix + k; variable.MatchString(name) {
			e.put(name, data[k])
		} else {
			e.leftOut = append(e.leftOut, "key "+k+" of envFrom: it is no name of a variable")
		}
	}
}

// fromSource is one value from elsewhere; not is that the variable is left away, as it may be.
func (e *environment) fromSource(s subject, from *corev1.EnvVarSource) (value string, is bool) {
	switch {
	case from.FieldRef != nil:
		return fieldOf(s.pod, from.FieldRef.FieldPath)
	case from.ConfigMapKeyRef != nil:
		ref, data := from.ConfigMapKeyRef, map[string]string(nil)
		cm := s.from.ConfigMaps[ref.Name]
		if cm != nil {
			data = cm.Data
		}
		return e.fromKey(s, "ConfigMap", keyRef{ref.Name, ref.Key, optional(ref.Optional), cm != nil}, data)
	case from.SecretKeyRef != nil:
		ref, data := from.SecretKeyRef, map[string]string(nil)
		secret := s.from.Secrets[ref.Name]
		if secret != nil {
			data = texts(secret.Data)
		}
		return e.fromKey(s, "Secret", keyRef{ref.Name, ref.Key, optional(ref.Optional), secret != nil}, data)
	}
	return "", false
}

// keyRef is one key of an object.
type keyRef struct {
	name, key       string
	optional, found bool
}

func (e *environment) fromKey(s subject, kind string, ref keyRef, data map[string]string) (value string, is bool) {
	value, is = data[ref.key]
	switch {
	case is || ref.optional:
	case !ref.found:
		e.lacks(missing(kind, s.pod.Namespace, ref.name, ""))
	default:
		e.lacks(missing(kind, s.pod.Namespace, ref.name, ref.key))
	}
	return value, is
}

func texts(data map[string][]byte) map[string]string {
	out := make(map[string]string, len(data))
	for k, v := range data {
		out[k] = string(v)
	}
	return out
}

// fieldOf is a field of a pod that is known when it is sent.
func fieldOf(pod *corev1.Pod, path string) (value string, known bool) {
	switch path {
	case "metadata.name":
		return pod.Name, true
	case "metadata.namespace":
		return pod.Namespace, true
	case "metadata.uid":
		return string(pod.UID), true
	case "spec.nodeName":
		return pod.Spec.NodeName, true
	case "spec.serviceAccountName":
		return pod.Spec.ServiceAccountName, true
	}
	label, is := strings.CutPrefix(path, "metadata.labels['")
	if label, closed := strings.CutSuffix(label, "']"); is && closed {
		return pod.Labels[label], true
	}
	return "", false
}
