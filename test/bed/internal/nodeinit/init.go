package nodeinit

import (
	"fmt"
	"io"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// plugged is the file that the bed closes once the node's network and control groups are in place.
const plugged = 3

// Enter waits for the bed, makes the control groups it was put into the root of all it sees, and starts over
// as Run. The start over is needed because a namespace is entered by one thread, not by a process.
func Enter(program, configPath string) error {
	if _, err := io.Copy(io.Discard, os.NewFile(plugged, "plugged")); err != nil {
		return fmt.Errorf("wait for the bed: %w", err)
	}
	runtime.LockOSThread()
	if err := unix.Unshare(unix.CLONE_NEWCGROUP); err != nil {
		return fmt.Errorf("enter control groups: %w", err)
	}
	err := unix.Exec(program, []string{program, "run", configPath}, os.Environ())
	return fmt.Errorf("start over: %w", err)
}

// Run furnishes the node and then never returns but for an error, which is the end of the node.
func Run(configPath string) error {
	config, err := Read(configPath)
	if err != nil {
		return err
	}
	if err := unix.Sethostname([]byte(config.Name)); err != nil {
		return fmt.Errorf("set host name: %w", err)
	}
	if err := mountAll(config); err != nil {
		return err
	}
	if err := network(config); err != nil {
		return err
	}
	return supervise(config.Daemons, config.LogDir)
}
