package plugin

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

func newStatus(o *options) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "status [kind/name]",
		Short: "Show all objects of a namespace, or one with its moves and children",
		Long: "Show all objects of Statecraft in a namespace, each in one line; or one object with its conditions,\n" +
			"its moves from phase to phase, and the objects that belong to it.",
		Example: "  kubectl statecraft status -A\n  kubectl statecraft status vkc/orders -n shop",
		Args:    cobra.MaximumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, namespace, err := o.reader()
			if err != nil {
				return err
			}
			if len(args) > 0 {
				return o.status(cmd, r, namespace, args)
			}
			if o.all {
				namespace = ""
			}
			overview, err := r.Overview(cmd.Context(), namespace)
			if err != nil {
				return err
			}
			if err := o.print(cmd, overview, overview.Text(o.all)); err != nil {
				return err
			}
			if len(overview.Hidden) > 0 {
				return fmt.Errorf("could not look at %s", strings.Join(overview.Hidden, ", "))
			}
			all, _, _ := overview.AsWished()
			return ended(all)
		},
	}
	cmd.Flags().BoolVarP(&o.all, "all-namespaces", "A", false, "show the objects of all namespaces")
	return cmd
}

func (o *options) status(cmd *cobra.Command, r *Reader, namespace string, args []string) error {
	report, err := r.Status(cmd.Context(), namespace, args...)
	if err != nil {
		return err
	}
	if err := o.print(cmd, report, report.Text()); err != nil {
		return err
	}
	return ended(report.AsWished)
}
