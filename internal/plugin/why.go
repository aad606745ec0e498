package plugin

import "github.com/spf13/cobra"

func newWhy(o *options) *cobra.Command {
	return &cobra.Command{
		Use:   "why kind/name",
		Short: "Explain what an object waits for, who must act, and what happens next",
		Long: "Explain why an object is where it is: what is awaited and until when, who must act and how, and\n" +
			"what happens next. What to do comes from the runbooks.",
		Example: "  kubectl statecraft why vkc/orders -n shop\n  kubectl statecraft why volumecapturerequest nightly -o yaml",
		Args:    cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, namespace, err := o.reader()
			if err != nil {
				return err
			}
			answer, err := r.Why(cmd.Context(), namespace, args...)
			if err != nil {
				return err
			}
			if err := o.print(cmd, answer, answer.Text()); err != nil {
				return err
			}
			return ended(answer.AsWished)
		},
	}
}
