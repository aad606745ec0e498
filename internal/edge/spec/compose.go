package spec

import (
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// ComposeFile is the only file of an application: Flight Control takes no other beside a compose file.
const ComposeFile = "podman-compose.yaml"

// The labels by which container runtimes of nodes say whose a container is.
const (
	podName       = "io.kubernetes.pod.name"
	podNamespace  = "io.kubernetes.pod.namespace"
	podUID        = "io.kubernetes.pod.uid"
	containerName = "io.kubernetes.container.name"
)

// composeOf is the compose file of a pod. Of the forms that compose has for one thing it takes the one that Flight Control and
// every compose tool know: volumes as text, because Flight Control parses no other, and limits outside of deploy.
func composeOf(s subject, env environment, volumes map[string]volumeFiles) (text string, refused []string) {
	c := s.container()
	var d document
	d.text("image", c.Image)
	d.list("entrypoint", expanded(c.Command, env))
	d.list("command", expanded(c.Args, env))
	d.text("working_dir", c.WorkingDir)
	d.mapping("environment", env.names, env.values)
	d.list("ports", portsOf(c))
	binds, refused := bindsOf(s, volumes)
	d.list("volumes", binds)
	d.list("tmpfs", memoryOf(s))
	d.text("hostname", hostnameOf(s.pod))
	security(&d, s)
	limits(&d, c.Resources.Limits)
	d.text("restart", "always")
	if grace := s.pod.Spec.TerminationGracePeriodSeconds; grace != nil {
		d.text("stop_grace_period", strconv.FormatInt(max(*grace, 0), 10)+"s")
	}
	d.yes("stdin_open", c.Stdin)
	d.yes("tty", c.TTY)
	labels := map[string]string{podName: s.pod.Name, podNamespace: s.pod.Namespace, podUID: string(s.pod.UID), containerName: c.Name}
	d.mapping("labels", slices.Sorted(maps.Keys(labels)), labels)
	return d.file(c.Name), refused
}

func expanded(list []string, env environment) (out []string) {
	for _, text := range list {
		out = append(out, expand(text, env.values))
	}
	return out
}

// portsOf are the ports that are published on the device.
func portsOf(c corev1.Container) (ports []string) {
	for _, p := range c.Ports {
		if p.HostPort == 0 {
			continue
		}
		published := strconv.Itoa(int(p.HostPort))
		if p.HostIP != "" {
			published = bracketed(p.HostIP) + ":" + published
		}
		text := published + ":" + strconv.Itoa(int(p.ContainerPort))
		if p.Protocol != "" && p.Protocol != corev1.ProtocolTCP {
			text += "/" + strings.ToLower(string(p.Protocol))
		}
		ports = append(ports, text)
	}
	return ports
}

// bracketed is an address before a port.
func bracketed(ip string) string {
	if strings.Contains(ip, ":") {
		return "[" + ip + "]"
	}
	return ip
}

// bindsOf mount the files of ConfigMaps. A path that is not there is refused here: on the device it would stop every other
// change.
func bindsOf(s subject, volumes map[string]volumeFiles) (binds, refused []string) {
	for i, m := range s.container().VolumeMounts {
		files, is := volumes[m.Name]
		if !is {
			continue
		}
		source := folderOf(s.pod, m.Name)
		if m.SubPath != "" {
			if !files.has(path.Clean(m.SubPath)) {
				refused = append(refused, fmt.Sprintf("containers[0].volumeMounts[%d].subPath: volume %s has no %s", i, m.Name, m.SubPath))
			}
			source = path.Join(source, m.SubPath)
		}
		binds = append(binds, source+":"+m.MountPath+":ro")
	}
	return binds, refused
}

// memoryOf are the volumes of memory. Their options are those of nodes: podman's own would forbid to execute.
func memoryOf(s subject) (list []string) {
	for _, v := range s.pod.Spec.Volumes {
		if v.EmptyDir == nil || v.EmptyDir.SizeLimit == nil {
			continue
		}
		for _, m := range s.mountsOf(v.Name) {
			list = append(list, fmt.Sprintf("%s:size=%d,mode=0777,exec", m.MountPath, v.EmptyDir.SizeLimit.Value()))
		}
	}
	return list
}

// hostnameOf is what the container calls its host, as on a node.
func hostnameOf(pod *corev1.Pod) string {
	name := pod.Name
	if pod.Spec.Hostname != "" {
		name = pod.Spec.Hostname
	}
	if o := pod.Spec.HostnameOverride; o != nil && *o != "" {
		name = *o
	}
	const longest = 63
	return strings.TrimRight(name[:min(len(name), longest)], "-.")
}

func security(d *document, s subject) {
	if user, group := s.user(); user != nil {
		text := strconv.FormatInt(*user, 10)
		if group != nil {
			text += ":" + strconv.FormatInt(*group, 10)
		}
		d.text("user", text)
	}
	c := s.container().SecurityContext
	if c == nil {
		return
	}
	d.yes("read_only", optional(c.ReadOnlyRootFilesystem))
	if c.Capabilities != nil {
		var drop []string
		for _, name := range c.Capabilities.Drop {
			drop = append(drop, string(name))
		}
		d.list("cap_drop", drop)
	}
	if c.AllowPrivilegeEscalation != nil && !*c.AllowPrivilegeEscalation {
		d.list("security_opt", []string{"no-new-privileges"})
	}
}

// limits of the container. The least that a node would enforce of a CPU is a hundredth.
func limits(d *document, limits corev1.ResourceList) {
	const leastMilli = 10
	if cpu, is := limits[corev1.ResourceCPU]; is && !cpu.IsZero() {
		milli := max(cpu.MilliValue(), leastMilli)
		d.text("cpus", strconv.FormatFloat(float64(milli)/1000, 'f', -1, 64))
	}
	if memory, is := limits[corev1.ResourceMemory]; is && !memory.IsZero() {
		d.text("mem_limit", strconv.FormatInt(min(memory.Value(), math.MaxInt64), 10)+"b")
	}
}
