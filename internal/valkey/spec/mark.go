package spec

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// markFlag tells the node program what the server shall bear.
const markFlag = "--mark"

// markArgs have the kubelet fill in which pod this is.
func markArgs() []string { return []string{markFlag, "$(POD_NAMESPACE)/$(POD_NAME)/$(POD_UID)"} }

// podEnv is what a pod learns of itself.
func podEnv() (env []corev1.EnvVar) {
	for _, v := range [][2]string{
		{"POD_IP", "status.podIP"}, {"POD_NAMESPACE", "metadata.namespace"}, {"POD_NAME", "metadata.name"}, {"POD_UID", "metadata.uid"},
	} {
		env = append(env, corev1.EnvVar{Name: v[0], ValueFrom: &corev1.EnvVarSource{
			FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: v[1]},
		}})
	}
	return env
}

// MarkOf is what the server of a pod bears: no other pod's does, whoever has its address by now. It is "" for
// pods that were made before servers bore marks; their arguments say so, which nobody can change.
func MarkOf(p *corev1.Pod) string {
	for _, c := range p.Spec.Containers {
		if c.Name == ServerContainer && slices.Contains(c.Args, markFlag) {
			return p.Namespace + "/" + p.Name + "/" + string(p.UID)
		}
	}
	return ""
}
