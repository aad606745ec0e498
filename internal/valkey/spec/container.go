package spec

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
)

const (
	dataPath    = "/data"
	configPath  = "/etc/valkey"
	programPath = "/statecraft"
	// program is statecraft-valkey-node as pods find it.
	program = programPath + "/statecraft-valkey-node"
	// noted is where the probe notes since when a server is a primary.
	noted = dataPath + "/primary-since"
	// held is where it notes that a server has keys.
	held = dataPath + "/held"
)

// How long a server may take to hand over, and then to stop; and how long its pod may take
// where the spec does not say.
const (
	handoverSeconds = 20
	shutdownSeconds = 10
	defaultGrace    = 120
)

// grace is how long a pod may take to stop.
func grace(c *valkeyv1.ValkeyCluster) int {
	return cmp.Or(int(c.Spec.TerminationGracePeriodSeconds), defaultGrace)
}

// handover makes a replica the primary before the server stops. If the data is nowhere but in memory, it
// first waits for a copy, for as long as the pod may take.
func handover(c *valkeyv1.ValkeyCluster) *corev1.LifecycleHandler {
	command := []string{program, "handover", "--noted", noted, "--within", fmt.Sprintf("%ds", handoverSeconds)}
	if !c.Spec.Persistence.Enabled {
		wait := grace(c) - handoverSeconds - shutdownSeconds - 10
		command = append(command, "--copy-within", fmt.Sprintf("%ds", wait), "--replicas", configPath+"/"+ReplicasFile)
	}
	return &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: append(command, logOn(c)...)}}
}

// startSeconds is as good as for ever. A server that loads what it has, copies its shard or waits
// until it may start is not dead, and one that is killed begins anew. For how long it is waited
// for is said by those who wait, as an upgrade does.
const startSeconds = 7 * 24 * 60 * 60

// ServerContainer is the name of the container that runs the server.
const ServerContainer = "valkey"

// program copies the node program into the pod, so that it works with any image of the
// server.
func (b Builder) program() corev1.Container {
	return corev1.Container{
		Name:            "statecraft",
		Image:           b.NodeImage,
		ImagePullPolicy: corev1.PullIfNotPresent,
		Args:            []string{"install", programPath},
		Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse("10m"), corev1.ResourceMemory: resource.MustParse("16Mi"),
		}},
		SecurityContext: containerSecurity(),
		VolumeMounts:    []corev1.VolumeMount{{Name: programVolume, MountPath: programPath}},
	}
}

// server runs the node program, which becomes the server once that harms nobody. It
// announces the pod's IP: what peers and clients see of it would otherwise depend on who
// was connected to first.
func server(c *valkeyv1.ValkeyCluster) corev1.Container {
	_, secrets := accessVolumes(c)
	return corev1.Container{
		Name:            ServerContainer,
		Image:           c.Spec.Image,
		ImagePullPolicy: corev1.PullIfNotPresent,
		Command:         []string{program, "run"},
		Args: slices.Concat([]string{"--config", configPath + "/" + ConfigFile, "--live", configPath + "/" + LiveFile, "--held", held,
			"--peers", fmt.Sprintf("%s.%s.svc:%d", NodesName(c), c.Namespace, valkeyv1.ClientPort)}, markArgs(), logOn(c)),
		Env: podEnv(),
		Ports: []corev1.ContainerPort{
			{Name: "valkey", ContainerPort: valkeyv1.ClientPort, Protocol: corev1.ProtocolTCP},
			{Name: "bus", ContainerPort: valkeyv1.BusPort, Protocol: corev1.ProtocolTCP},
		},
		Resources:       corev1.ResourceRequirements{Requests: c.Spec.Resources.Requests, Limits: c.Spec.Resources.Limits},
		SecurityContext: containerSecurity(),
		StartupProbe:    probe(c, 1, startSeconds),
		ReadinessProbe:  probe(c, 5, 2),
		Lifecycle:       &corev1.Lifecycle{PreStop: handover(c)},
		VolumeMounts: append([]corev1.VolumeMount{
			{Name: programVolume, MountPath: programPath, ReadOnly: true},
			{Name: configVolume, MountPath: configPath, ReadOnly: true},
			{Name: dataVolume, MountPath: dataPath},
		}, secrets...),
	}
}

// probe asks whether the server answers and has its data, and not whether the cluster
// serves: the servers would wait for each other. Once the cluster was formed, one that is neither
// a primary with slots nor in step with one has no data.
func probe(c *valkeyv1.ValkeyCluster, period, failures int32) *corev1.Probe {
	return &corev1.Probe{
		ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{
			Command: append([]string{program, "ready", "--noted", noted, "--held", held, "--formed", configPath + "/" + FormedFile}, logOn(c)...),
		}},
		PeriodSeconds:    period,
		TimeoutSeconds:   3,
		FailureThreshold: failures,
	}
}
