package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/statecraft-dev/statecraft/internal/version"
)

// The exit codes.
const (
	AsWished     = 0 // what was asked about is what its spec asks for
	NotAsWished  = 1 // something is not, or no manager keeps it so; or a decision was not written
	CouldNotLook = 2 // not all that was asked about could be looked at, or the cluster could not be asked
)

// errNotAsWished ends a command that has said all there is to say.
var errNotAsWished = errors.New("not as wished")

// Run runs the program, and returns its exit code.
func Run(ctx context.Context, args []string, out, problems io.Writer) int {
	return run(ctx, NewCommand(), args, out, problems)
}

func run(ctx context.Context, cmd *cobra.Command, args []string, out, problems io.Writer) int {
	cmd.SetArgs(args)
	cmd.SetOut(out)
	cmd.SetErr(problems)
	switch err := cmd.ExecuteContext(ctx); {
	case err == nil:
		return AsWished
	case errors.Is(err, errNotAsWished):
		return NotAsWished
	default:
		fmt.Fprintln(problems, "error:", err)
		return CouldNotLook
	}
}

// options are those of all commands.
type options struct {
	config *genericclioptions.ConfigFlags
	output string
	system string
	all    bool
	// terminal says that a person can be asked.
	terminal func(io.Reader) bool
	now      func() time.Time
}

// NewCommand is the program with its commands.
func NewCommand() *cobra.Command {
	return newCommand(&options{config: genericclioptions.NewConfigFlags(true), terminal: isTerminal, now: time.Now})
}

func newCommand(o *options) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "kubectl-statecraft",
		Short: "Show what Statecraft's objects are doing, and why, and decide what a person must decide",
		Long: "Show what Statecraft's objects are doing, and why, and decide what a person must decide.\n\n" +
			"All that is shown comes from the objects themselves, read with your own rights: it works while no\n" +
			"manager runs. approve, reject and acknowledge write one object, an ExecutionApproval, and all else\n" +
			"writes nothing. The exit code is 0 if all that was asked about is as wished, 1 if something is not or\n" +
			"no manager is there to keep it so, and 2 if not all could be looked at.",
		Version:       version.String(),
		Annotations:   map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl statecraft"},
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	flags := cmd.PersistentFlags()
	o.config.AddFlags(flags)
	flags.StringVarP(&o.output, "output", "o", "", "print json or yaml instead of text")
	flags.StringVar(&o.system, "system-namespace", "", "namespace in which Statecraft is installed; looked for if not given")
	cmd.AddCommand(newStatus(o), newWhy(o), newApprove(o), newReject(o), newAcknowledge(o), newPolicy(o), newAudit(o))
	return cmd
}

// cluster is the one that the flags name, and the namespace to look at.
func (o *options) cluster() (*rest.Config, string, error) {
	if o.output != "" && o.output != "json" && o.output != "yaml" {
		return nil, "", fmt.Errorf("unknown output %q: choose json or yaml", o.output)
	}
	cfg, err := o.config.ToRESTConfig()
	if err != nil {
		return nil, "", fmt.Errorf("find the cluster: %w", err)
	}
	namespace, _, err := o.config.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return nil, "", fmt.Errorf("find the namespace: %w", err)
	}
	return cfg, namespace, nil
}

// reader is one for the cluster that the flags name, and the namespace to look at.
func (o *options) reader() (*Reader, string, error) {
	cfg, namespace, err := o.cluster()
	if err != nil {
		return nil, "", err
	}
	r, err := NewReader(cfg)
	if err != nil {
		return nil, "", err
	}
	r.System = o.system
	return r, namespace, nil
}

// print writes a value as data, or else its text.
func (o *options) print(cmd *cobra.Command, value any, text string) error {
	var data []byte
	var err error
	switch o.output {
	case "json":
		data, err = json.MarshalIndent(value, "", "  ")
		data = append(data, '\n')
	case "yaml":
		data, err = yaml.Marshal(value)
	default:
		data = []byte(text)
	}
	if err != nil {
		return fmt.Errorf("print: %w", err)
	}
	_, err = cmd.OutOrStdout().Write(data)
	return err
}

// ended turns what was found into the end of a command.
func ended(asWished bool) error {
	if asWished {
		return nil
	}
	return errNotAsWished
}
