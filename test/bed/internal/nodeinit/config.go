// Package nodeinit is what runs as process 1 of a node: it furnishes the node's namespaces and then keeps the
// node's daemons running, as an init system would.
package nodeinit

import (
	"encoding/json"
	"fmt"
	"os"
)

// Config is all an init needs to know. The bed decides; the init only carries out.
type Config struct {
	Name    string
	Address string // of eth0, with its prefix length
	Routes  []string
	Binds   []Bind
	Cgroups []Cgroup
	Sysctls map[string]string // path below /proc/sys → value; a missing path is skipped
	Daemons []Daemon
	LogDir  string
}

// Bind puts one file or directory of the host over another path of the node.
type Bind struct{ Source, Target string }

// Cgroup is a cgroup v1 hierarchy to mount: the directory's name below /sys/fs/cgroup and the mount options.
type Cgroup struct {
	Name    string
	Options string
	Links   []string
}

// Daemon is a program that is started again whenever it ends.
type Daemon struct {
	Name string
	Path string
	Args []string
	// Socket must accept connections before the next daemon is started.
	Socket string
}

// Read reads a configuration the bed wrote.
func Read(path string) (Config, error) {
	var config Config
	content, err := os.ReadFile(path)
	if err != nil {
		return config, fmt.Errorf("read configuration of node: %w", err)
	}
	if err := json.Unmarshal(content, &config); err != nil {
		return config, fmt.Errorf("parse configuration of node: %w", err)
	}
	return config, nil
}
