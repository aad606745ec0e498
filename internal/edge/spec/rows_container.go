package spec

import (
	"regexp"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

const (
	noPolicy  = "the agent pulls an image that the device lacks, and no other: set IfNotPresent"
	noSecrets = "Secrets are not delivered: they would lie readable in the device's spec. Let the pool deliver them, and the namespace grant them"
	noProbes  = "a device runs no probes"
)

// containerRows are about the container, but for its securityContext.
var containerRows = []Row{
	honoured("containers[].name", "the name of the compose service"),
	refused("containers[].image", "Flight Control takes no short name: write the registry, as in docker.io/library/nginx:1").in("without a registry", shortImage),
	honoured("containers[].image", "image; an edit is sent again, and the agent stops and starts the container"),
	honoured("containers[].imagePullPolicy", "what the agent does anyway").in("IfNotPresent", value(string(corev1.PullIfNotPresent))),
	refused("containers[].imagePullPolicy", noPolicy),
	honoured("containers[].command[]", "entrypoint, with its $(VARIABLES)"),
	honoured("containers[].args[]", "command, with its $(VARIABLES)"),
	honoured("containers[].workingDir", "working_dir"),
	leftOut("containers[].ports[]", "without a hostPort nothing outside the pod reaches it, for no Service leads to a pod on a device").in("without hostPort", noHostPort),
	honoured("containers[].ports[]", "ports, published on the device"),
	refused("containers[].env[].name", "on a device the name of a variable has letters, digits, and . - _, and does not begin with a digit").in("unusual", unusualName),
	honoured("containers[].env[].name", "environment"),
	honoured("containers[].env[].value", "environment, with its $(VARIABLES)"),
	honoured("containers[].env[].valueFrom.fieldRef", "as it is when the pod is sent").in("name, namespace, uid, labels, nodeName, serviceAccountName", knownField),
	refused("containers[].env[].valueFrom.fieldRef", "it is not known when the pod is sent, or changes afterwards"),
	honoured("containers[].env[].valueFrom.configMapKeyRef", "as it is when the pod is sent"),
	honoured("containers[].env[].valueFrom.secretKeyRef", "as it is when the pod is sent").in("delivered", delivered),
	refused("containers[].env[].valueFrom.secretKeyRef", noSecrets),
	refused("containers[].env[].valueFrom.resourceFieldRef", "variables from resources are not delivered"),
	refused("containers[].env[].valueFrom.fileKeyRef", "variables from files are not delivered"),
	honoured("containers[].envFrom[].secretRef", "as it is when the pod is sent").in("delivered", delivered),
	refused("containers[].envFrom[].secretRef", noSecrets),
	honoured("containers[].envFrom[].configMapRef", "as it is when the pod is sent"),
	honoured("containers[].envFrom[].prefix", "before the name of each variable"),
	honoured("containers[].resources.limits", "cpus").in("cpu", key("cpu")),
	honoured("containers[].resources.limits", "mem_limit").in("memory", key("memory")),
	refused("containers[].resources.limits", "a device limits cpu and memory, and nothing else"),
	honoured("containers[].resources.requests", "the scheduler fits them into the device").in("cpu, memory", key("cpu", "memory")),
	refused("containers[].resources.requests", "a device has cpu and memory, and nothing else that can be requested"),
	refused("containers[].resources.claims[]", "devices have no dynamic resources"),
	leftOut("containers[].resizePolicy[]", "limits are set when the pod is sent, and do not follow a resize"),
	refused("containers[].restartPolicy", "the only container is restarted always"),
	refused("containers[].restartPolicyRules[]", "the only container is restarted always"),
	refused("containers[].volumeDevices[]", "there are no block devices of volumes"),
	refused("containers[].livenessProbe", noProbes),
	refused("containers[].readinessProbe", noProbes),
	refused("containers[].startupProbe", noProbes),
	refused("containers[].lifecycle", "a device runs no hooks of containers"),
	leftOut("containers[].terminationMessagePath", "a device does not report why a container ended").silent(),
	leftOut("containers[].terminationMessagePolicy", "a device does not report why a container ended"),
	refused("containers[].stdinOnce", "kubectl attach does not reach a device"),
	honoured("containers[].stdin", "stdin_open"),
	honoured("containers[].tty", "tty"),
}

// reference is an image with its registry, as Flight Control asks for it: podman would ask a person which registry a short
// name is of. The first part is a registry only with a dot or a port, or as localhost.
var reference = regexp.MustCompile(`^(localhost|[a-zA-Z0-9]([-a-zA-Z0-9]*[a-zA-Z0-9])?(\.[a-zA-Z0-9]([-a-zA-Z0-9]*[a-zA-Z0-9])?)+|[a-zA-Z0-9]([-.a-zA-Z0-9]*[a-zA-Z0-9])?:[0-9]+)(:[0-9]+)?` +
	`(/[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*)+(:\w[\w.-]{0,127})?(@[A-Za-z][A-Za-z0-9]*([-_+.][A-Za-z][A-Za-z0-9]*)*:[[:xdigit:]]{32,})?$`)

func shortImage(_ subject, l leaf) bool { return !reference.MatchString(l.text()) }

func noHostPort(s subject, l leaf) bool { return s.container().Ports[l.index[1]].HostPort == 0 }

// variable is how a variable may be called: what Kubernetes has allowed for long, and every compose tool understands.
var variable = regexp.MustCompile(`^[-._a-zA-Z][-._a-zA-Z0-9]*$`)

func unusualName(_ subject, l leaf) bool { return !variable.MatchString(l.text()) }

// knownField says that a variable is of a field that is there when the pod is sent, and that we do not write ourselves.
func knownField(s subject, l leaf) bool {
	_, known := fieldOf(s.pod, s.container().Env[l.index[1]].ValueFrom.FieldRef.FieldPath)
	return known
}

func delivered(s subject, _ leaf) bool { return s.from.DeliversSecrets }

// mountsOf are those of a volume.
func (s subject) mountsOf(volume string) []corev1.VolumeMount {
	return slices.DeleteFunc(slices.Clone(s.container().VolumeMounts), func(m corev1.VolumeMount) bool { return m.Name != volume })
}
