package bed

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"text/template"

	"k8s.io/apimachinery/pkg/util/uuid"

	"github.com/statecraft-dev/statecraft/test/bed/images"
	"github.com/statecraft-dev/statecraft/test/bed/internal/cgroup"
	"github.com/statecraft-dev/statecraft/test/bed/internal/hostnet"
	"github.com/statecraft-dev/statecraft/test/bed/internal/nodeinit"
	"github.com/statecraft-dev/statecraft/test/bed/parts"
)

//go:embed node/*.tmpl
var nodeTemplates embed.FS

const containerdSocket = "/run/containerd/containerd.sock"

// disk is a path of the node's own disk, which survives its power.
func (n *Node) disk(elements ...string) string {
	return n.bed.path(append([]string{n.Name()}, elements...)...)
}

// writeConfig writes all files of the node and returns the path of the one its init reads.
func (n *Node) writeConfig() (string, error) {
	for _, dir := range []string{"etc/cni", "var/lib", "var/log", "mnt"} {
		if err := os.MkdirAll(n.disk(dir), 0o755); err != nil {
			return "", fmt.Errorf("make disk of %s: %w", n.Name(), err)
		}
	}
	if err := n.writeTemplates(); err != nil {
		return "", err
	}
	if err := n.writeIdentity(); err != nil {
		return "", err
	}
	config, err := n.initConfig()
	if err != nil {
		return "", err
	}
	content, err := json.MarshalIndent(config, "", "  ")
	if err != nil {
		return "", fmt.Errorf("encode configuration of %s: %w", n.Name(), err)
	}
	return n.disk("etc/init.json"), os.WriteFile(n.disk("etc/init.json"), content, 0o644)
}

func (n *Node) writeTemplates() error {
	values := map[string]string{
		"Name": n.Name(), "Address": n.Address(), "Etc": n.disk("etc"), "CA": n.bed.path("pki", "ca.crt"),
		"Socket": containerdSocket, "PauseImage": images.Pause,
		"CNI": n.bed.programs[parts.CNI], "Runc": n.bed.programs[parts.Runc],
		"PodSubnet": hostnet.PodSubnet(n.index), "PodRange": hostnet.PodRange,
	}
	all, err := template.ParseFS(nodeTemplates, "node/*.tmpl")
	if err != nil {
		return fmt.Errorf("parse templates: %w", err)
	}
	for name, target := range map[string]string{
		"containerd.toml.tmpl": "etc/containerd.toml",
		"kubelet.yaml.tmpl":    "etc/kubelet.yaml",
		"kube-proxy.yaml.tmpl": "etc/kube-proxy.yaml",
		"cni.conflist.tmpl":    "etc/cni/10-bed.conflist",
	} {
		var content bytes.Buffer
		if err := all.ExecuteTemplate(&content, name, values); err != nil {
			return fmt.Errorf("fill %s: %w", name, err)
		}
		if err := os.WriteFile(n.disk(target), content.Bytes(), 0o644); err != nil {
			return fmt.Errorf("write %s: %w", target, err)
		}
	}
	return nil
}

// writeIdentity gives the node its credentials, a machine id that stays and a boot id that does not: kubelet tells
// a reboot by it.
func (n *Node) writeIdentity() error {
	err := n.bed.writeKubeconfig(n.disk("etc/kubelet.kubeconfig"), "system:node:"+n.Name(), "system:nodes")
	if err != nil {
		return err
	}
	if err := n.bed.writeKubeconfig(n.disk("etc/kube-proxy.kubeconfig"), "system:kube-proxy"); err != nil {
		return err
	}
	for name, content := range map[string]string{
		"machine-id":  fmt.Sprintf("%032x\n", n.index),
		"boot-id":     string(uuid.NewUUID()) + "\n",
		"resolv.conf": "", // the machine's own would lead pods' lookups off it
	} {
		if err := os.WriteFile(n.disk("etc", name), []byte(content), 0o644); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	return nil
}

func (n *Node) initConfig() (nodeinit.Config, error) {
	cgroups, err := nodeCgroups()
	if err != nil {
		return nodeinit.Config{}, err
	}
	kube := n.bed.programs[parts.Kube]
	return nodeinit.Config{
		Name:    n.Name(),
		Address: n.Address() + "/24",
		Routes:  n.routes(),
		Cgroups: cgroups,
		LogDir:  n.bed.path("log"),
		Binds: []nodeinit.Bind{
			{Source: n.disk("var/lib"), Target: "/var/lib"},
			{Source: n.disk("var/log"), Target: "/var/log"},
			{Source: n.disk("mnt"), Target: "/mnt"},
			{Source: n.disk("etc/machine-id"), Target: "/etc/machine-id"},
			{Source: n.disk("etc/boot-id"), Target: "/proc/sys/kernel/random/boot_id"},
			{Source: n.bed.layout.volumes, Target: provisionedVolumes},
		},
		Sysctls: map[string]string{"net/ipv4/ip_forward": "1", "net/bridge/bridge-nf-call-iptables": "1"},
		Daemons: append(n.bed.csi.daemons(n), []nodeinit.Daemon{
			{
				Name: "containerd-" + n.Name(), Path: n.bed.program(parts.Containerd, "containerd"),
				Args: []string{"--config", n.disk("etc/containerd.toml")}, Socket: containerdSocket,
			},
			{
				Name: "kube-proxy-" + n.Name(), Path: filepath.Join(kube, "kube-proxy"),
				Args: []string{"--config", n.disk("etc/kube-proxy.yaml")},
			},
			{
				Name: "kubelet-" + n.Name(), Path: filepath.Join(kube, "kubelet"),
				Args: []string{
					"--config", n.disk("etc/kubelet.yaml"), "--kubeconfig", n.disk("etc/kubelet.kubeconfig"),
					"--hostname-override", n.Name(), "--node-ip", n.Address(),
				},
			},
		}...),
	}, nil
}

// routes lead to the pods of the other nodes, and give Services a way out of the socket before their address is
// rewritten.
func (n *Node) routes() []string {
	routes := []string{hostnet.ServiceRange + " dev eth0"}
	for i := 1; i <= maxNodes; i++ {
		if i != n.index {
			routes = append(routes, hostnet.PodSubnet(i)+" via "+hostnet.NodeAddress(i))
		}
	}
	return routes
}

// nodeCgroups mirrors the machine's hierarchies.
func nodeCgroups() ([]nodeinit.Cgroup, error) {
	hierarchies, err := cgroup.Hierarchies()
	if err != nil {
		return nil, err
	}
	var mirrored []nodeinit.Cgroup
	for _, h := range hierarchies {
		c := nodeinit.Cgroup{Name: filepath.Base(h.Mount), Options: h.Options()}
		for _, controller := range h.Controllers {
			if controller != c.Name && len(h.Controllers) > 1 {
				c.Links = append(c.Links, controller)
			}
		}
		mirrored = append(mirrored, c)
	}
	return mirrored, nil
}
