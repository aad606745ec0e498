package spec

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// user is who the servers run as: that of the official images. Images that run as
// anybody work as well.
const user int64 = 999

// podSecurity and containerSecurity meet the restricted pod security standard.
func podSecurity() *corev1.PodSecurityContext {
	return &corev1.PodSecurityContext{
		RunAsNonRoot:   ptr.To(true),
		RunAsUser:      ptr.To(user),
		RunAsGroup:     ptr.To(user),
		FSGroup:        ptr.To(user),
		SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}
}

func containerSecurity() *corev1.SecurityContext {
	return &corev1.SecurityContext{
		AllowPrivilegeEscalation: ptr.To(false),
		ReadOnlyRootFilesystem:   ptr.To(true),
		Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
	}
}
