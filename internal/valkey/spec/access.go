package spec

import (
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/valkey/access"
)

const (
	usersVolume = "users"
	tlsVolume   = "tls"
	usersPath   = "/etc/statecraft/users"
	// TLSPath is where servers find their certificates.
	TLSPath = "/etc/statecraft/tls"
)

// AccessName is the name of the Secret with the passwords of the operator's own users.
func AccessName(c *valkeyv1.ValkeyCluster) string { return c.Name + "-access" }

// ServerName is what the certificates of all servers are for.
func ServerName(c *valkeyv1.ValkeyCluster) string {
	return fmt.Sprintf("%s.%s.svc", EndpointName(c), c.Namespace)
}

// CertificatesName is the name of the Secret with the certificates that servers load: those
// of the user, or a stage on the way to them.
func CertificatesName(c *valkeyv1.ValkeyCluster) string { return c.Name + "-certificates" }

// AccessSecret holds the passwords of the operator's own users. It bears the number of the
// change that made the newest.
func AccessSecret(c *valkeyv1.ValkeyCluster, own access.Secrets, rotation string) *corev1.Secret {
	s := secret(c, AccessName(c), own.Own())
	s.Annotations = map[string]string{valkeyv1.RotationAnnotation: rotation}
	return s
}

// CertificatesSecret holds what servers load, and the certificate that they showed before.
func CertificatesSecret(c *valkeyv1.ValkeyCluster, m access.Material, before string) *corev1.Secret {
	files := m.Files()
	if before != "" {
		files[access.BeforeFile] = before
	}
	return secret(c, CertificatesName(c), files)
}

func secret(c *valkeyv1.ValkeyCluster, name string, files map[string]string) *corev1.Secret {
	s := &corev1.Secret{ObjectMeta: owned(c, name, Labels(c)), Type: corev1.SecretTypeOpaque, Data: map[string][]byte{}}
	for file, text := range files {
		s.Data[file] = []byte(text)
	}
	return s
}

// Rotation names the change of the operator's own passwords that is asked for.
func Rotation(c *valkeyv1.ValkeyCluster) string {
	if c.Spec.Auth == nil {
		return ""
	}
	return strconv.FormatInt(c.Spec.Auth.Rotation, 10)
}

// logOn are the arguments by which the node program logs on.
func logOn(c *valkeyv1.ValkeyCluster) (args []string) {
	if c.Spec.Auth != nil {
		args = append(args, "--users-dir", usersPath)
	}
	if c.Spec.TLS != nil {
		args = append(args, "--tls-dir", TLSPath, "--tls-server-name", ServerName(c))
	}
	return args
}

// accessVolumes are whole Secrets: of a part of one a pod would never see the change.
func accessVolumes(c *valkeyv1.ValkeyCluster) (volumes []corev1.Volume, mounts []corev1.VolumeMount) {
	const mode = int32(0o440)
	if a := c.Spec.Auth; a != nil {
		own := corev1.SecretProjection{LocalObjectReference: corev1.LocalObjectReference{Name: AccessName(c)}}
		theirs := corev1.SecretProjection{
			LocalObjectReference: corev1.LocalObjectReference{Name: a.SecretName},
			Items: []corev1.KeyToPath{
				{Key: valkeyv1.UsernameKey, Path: access.ApplicationUserFile},
				{Key: valkeyv1.PasswordKey, Path: access.ApplicationPasswordFile},
			},
			// Without it pods would not start, and would not see new passwords of the operator either.
			Optional: ptr.To(true),
		}
		volumes = append(volumes, corev1.Volume{Name: usersVolume, VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{
			DefaultMode: ptr.To(mode), Sources: []corev1.VolumeProjection{{Secret: &own}, {Secret: &theirs}},
		}}})
		mounts = append(mounts, corev1.VolumeMount{Name: usersVolume, MountPath: usersPath, ReadOnly: true})
	}
	if c.Spec.TLS != nil {
		volumes = append(volumes, corev1.Volume{Name: tlsVolume, VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{
			SecretName: CertificatesName(c), DefaultMode: ptr.To(mode),
		}}})
		mounts = append(mounts, corev1.VolumeMount{Name: tlsVolume, MountPath: TLSPath, ReadOnly: true})
	}
	return volumes, mounts
}
