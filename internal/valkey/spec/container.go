package spec

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
)

const (
	dataPath   = "/data"
	configPath = "/etc/valkey"
	// user is who the servers run as: that of the official images. Images that run
	// as anybody work as well.
	user int64 = 999
)

// ServerContainer is the name of the container that runs the server.
const ServerContainer = "valkey"

// server announces the pod's IP: what peers and clients see of it would otherwise
// depend on who was connected to first.
func server(c *valkeyv1.ValkeyCluster) corev1.Container {
	return corev1.Container{
		Name:            ServerContainer,
		Image:           c.Spec.Image,
		ImagePullPolicy: corev1.PullIfNotPresent,
		Command:         []string{"valkey-server", configPath + "/" + ConfigFile},
		Args:            []string{"--cluster-announce-ip", "$(POD_IP)"},
		Env: []corev1.EnvVar{{Name: "POD_IP", ValueFrom: &corev1.EnvVarSource{
			FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "status.podIP"},
		}}},
		Ports: []corev1.ContainerPort{
			{Name: "valkey", ContainerPort: valkeyv1.ClientPort, Protocol: corev1.ProtocolTCP},
			{Name: "bus", ContainerPort: valkeyv1.BusPort, Protocol: corev1.ProtocolTCP},
		},
		Resources:       corev1.ResourceRequirements{Requests: c.Spec.Resources.Requests, Limits: c.Spec.Resources.Limits},
		SecurityContext: containerSecurity(),
		StartupProbe:    probe(1, 120),
		ReadinessProbe:  probe(5, 2),
		VolumeMounts: []corev1.VolumeMount{
			{Name: "config", MountPath: configPath, ReadOnly: true},
			{Name: "data", MountPath: dataPath},
		},
	}
}

// probe asks whether the server answers, and not whether the cluster serves: the
// servers would wait for each other.
func probe(period, failures int32) *corev1.Probe {
	return &corev1.Probe{
		ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{
			Command: []string{"valkey-cli", "-e", "ping"},
		}},
		PeriodSeconds:    period,
		TimeoutSeconds:   2,
		FailureThreshold: failures,
	}
}

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
