package action

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/types"
)

// TerminationLog is where a kubelet reads the last word of a container.
const TerminationLog = "/dev/termination-log"

// Target is the very object of an action.
type Target struct {
	APIVersion, Kind, Resource string
	Namespace                  string // empty for an object without one
	Name                       string
	UID                        types.UID
}

// Command is what the program statecraft-action is asked to do.
type Command struct {
	Action     string // the name of a builtin
	Target     Target
	Footprint  string // the hash that was approved
	Execution  types.UID
	Parameters Params
	Timeout    time.Duration
	// TerminationLog is TerminationLog, except in tests.
	TerminationLog string
}

// Arguments are the args of the container that runs a command.
func (c Command) Arguments() []string {
	t := c.Target
	out := []string{
		"--action=" + c.Action,
		"--api-version=" + t.APIVersion, "--kind=" + t.Kind, "--resource=" + t.Resource,
		"--namespace=" + t.Namespace, "--name=" + t.Name, "--uid=" + string(t.UID),
		"--footprint=" + c.Footprint, "--execution=" + string(c.Execution),
		"--parameters=" + string(canonical(c.Parameters)), "--timeout=" + c.Timeout.String(),
	}
	if c.TerminationLog != "" {
		out = append(out, "--termination-log="+c.TerminationLog)
	}
	return literal(out)
}

// literal writes arguments so that a kubelet hands them on as they are: it replaces $(NAME) by
// variables of the environment, and $$ by a dollar.
func literal(args []string) []string {
	out := make([]string, len(args))
	for i, arg := range args {
		out[i] = strings.ReplaceAll(arg, "$", "$$")
	}
	return out
}

// ParseArguments reads the arguments that the program is started with. If it fails, the command has
// at least the termination log to report it to.
func ParseArguments(args []string) (Command, error) {
	c := Command{}
	f := flag.NewFlagSet("statecraft-action", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.StringVar(&c.Action, "action", "", "built-in action to perform")
	f.StringVar(&c.Target.APIVersion, "api-version", "", "group and version of the target")
	f.StringVar(&c.Target.Kind, "kind", "", "kind of the target")
	f.StringVar(&c.Target.Resource, "resource", "", "kind of the target in the plural, as in paths of the API")
	f.StringVar(&c.Target.Namespace, "namespace", "", "namespace of the target; empty if it has none")
	f.StringVar(&c.Target.Name, "name", "", "name of the target")
	f.StringVar((*string)(&c.Target.UID), "uid", "", "UID of the target")
	f.StringVar(&c.Footprint, "footprint", "", "hash of the target's footprint that was approved")
	f.StringVar((*string)(&c.Execution), "execution", "", "UID of the execution")
	parameters := f.String("parameters", "{}", "parameters as a JSON object")
	f.DurationVar(&c.Timeout, "timeout", 0, "how long to try")
	f.StringVar(&c.TerminationLog, "termination-log", TerminationLog, "file to report to")
	if err := f.Parse(args); err != nil {
		return c, err
	}
	if f.NArg() > 0 {
		return c, fmt.Errorf("argument %q is no flag", cut(f.Arg(0), maxName))
	}
	return c, c.read(*parameters)
}

// read reads the parameters by the list of the builtin, and looks whether the command is complete.
func (c *Command) read(parameters string) error {
	for _, flag := range [][2]string{
		{"api-version", c.Target.APIVersion}, {"kind", c.Target.Kind}, {"resource", c.Target.Resource}, {"name", c.Target.Name},
		{"uid", string(c.Target.UID)}, {"footprint", c.Footprint}, {"execution", string(c.Execution)},
	} {
		if flag[1] == "" {
			return fmt.Errorf("flag --%s is missing", flag[0])
		}
	}
	if c.Timeout <= 0 {
		return errors.New("flag --timeout is missing")
	}
	b, err := find(c.Action)
	if err != nil {
		return err
	}
	given := map[string]apiextensionsv1.JSON{}
	if err := json.Unmarshal([]byte(parameters), &given); err != nil {
		return fmt.Errorf("read parameters: %w", err)
	}
	c.Parameters, err = Check(b.Parameters, given)
	return err
}
