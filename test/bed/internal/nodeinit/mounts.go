package nodeinit

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

const cgroupRoot = "/sys/fs/cgroup"

// mountAll gives the node its own view of the file system. The mounts it inherited are made private first, or all
// of this would show up on the host.
func mountAll(config Config) error {
	if err := mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return err
	}
	// The old /sys shows the host's network and control groups.
	if err := unix.Unmount("/sys", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("unmount /sys: %w", err)
	}
	for _, m := range []struct{ kind, target, options string }{
		{"proc", "/proc", ""},
		{"sysfs", "/sys", ""},
		{"tmpfs", cgroupRoot, "mode=755"},
		{"tmpfs", "/run", "mode=755"},
	} {
		if err := mount(m.kind, m.target, m.kind, 0, m.options); err != nil {
			return err
		}
	}
	if err := mountCgroups(config.Cgroups); err != nil {
		return err
	}
	for _, bind := range config.Binds {
		if err := mount(bind.Source, bind.Target, "", unix.MS_BIND, ""); err != nil {
			return err
		}
	}
	// Shared among the node's own processes: volumes that a pod mounts must reach kubelet and back.
	return mount("", "/", "", unix.MS_REC|unix.MS_SHARED, "")
}

func mountCgroups(cgroups []Cgroup) error {
	for _, cgroup := range cgroups {
		dir := filepath.Join(cgroupRoot, cgroup.Name)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("make mount point: %w", err)
		}
		if err := mount("cgroup", dir, "cgroup", 0, cgroup.Options); err != nil {
			return err
		}
		for _, link := range cgroup.Links {
			if err := os.Symlink(cgroup.Name, filepath.Join(cgroupRoot, link)); err != nil {
				return fmt.Errorf("link control group: %w", err)
			}
		}
	}
	return nil
}

func mount(source, target, kind string, flags uintptr, options string) error {
	if err := unix.Mount(source, target, kind, flags, options); err != nil {
		return fmt.Errorf("mount %s on %s: %w", source, target, err)
	}
	return nil
}
