package nodeinit

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// ErrArguments says that Bound was called wrongly.
var ErrArguments = errors.New("want: source target program [argument…]")

// Bound becomes another program that sees source at the path target. It runs in a mount namespace of its own: a
// program whose paths are fixed writes where the bed wants it to.
func Bound(args []string) error {
	if len(args) < 3 {
		return ErrArguments
	}
	source, target, program := args[0], args[1], args[2:]
	if err := mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return err
	}
	if err := mount(source, target, "", unix.MS_BIND, ""); err != nil {
		return err
	}
	return fmt.Errorf("become %s: %w", program[0], unix.Exec(program[0], program, os.Environ()))
}
