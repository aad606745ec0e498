package nodeinit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// network sets up the node's own end. There is no default route: nothing leaves this machine.
func network(config Config) error {
	commands := []string{
		"link set lo up",
		"addr add " + config.Address + " dev eth0",
		"link set eth0 up",
	}
	for _, route := range config.Routes {
		commands = append(commands, "route add "+route)
	}
	for _, command := range commands {
		output, err := exec.Command("ip", strings.Fields(command)...).CombinedOutput()
		if err != nil {
			return fmt.Errorf("ip %s: %w: %s", command, err, output)
		}
	}
	for path, value := range config.Sysctls {
		err := os.WriteFile(filepath.Join("/proc/sys", path), []byte(value), 0o644)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("set kernel parameter: %w", err)
		}
	}
	return nil
}
