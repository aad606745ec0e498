package plugin

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/statecraft-dev/statecraft/internal/explain"
	"github.com/statecraft-dev/statecraft/internal/remediation/audit"
	"github.com/statecraft-dev/statecraft/internal/remediation/audit/postgres"
)

func newAudit(o *options) *cobra.Command {
	cmd := &cobra.Command{
		Use: "audit", Short: "Verify the audit records of area remediation",
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		Args: cobra.NoArgs,
	}
	cmd.AddCommand(newAuditVerify(o), newAuditSchema())
	return cmd
}

// auditFiles lead to the audit database. Both hold secrets, so they are files and no arguments.
type auditFiles struct{ dsn, keys, chain string }

func newAuditVerify(o *options) *cobra.Command {
	var files auditFiles
	cmd := &cobra.Command{
		Use: "verify", Short: "Compare the audit records with their keys and with the cluster", Args: cobra.NoArgs,
		Long: "Compare the audit records with their keys and with the executions of the cluster. It names records that were\n" +
			"edited, deleted, replaced or written without the key, records at the end that are missing although an execution\n" +
			"names them, and executions that have ended without a record of how. It reads the database and the executions of\n" +
			"all namespaces, and writes nothing; a role with statecraft_audit_reader is enough. The exit code is 0 if nothing\n" +
			"is wrong, 1 if something is, and 2 if not all could be read.",
		Example: "  kubectl statecraft audit verify --dsn-file=auditor.dsn --key-file=audit.keys\n" +
			"  kubectl statecraft audit verify --dsn-file=auditor.dsn --key-file=audit.keys -o json",
		RunE: func(cmd *cobra.Command, _ []string) error { return o.verifyAudit(cmd, files) },
	}
	cmd.Flags().StringVar(&files.dsn, "dsn-file", "", "file with the connection string of the audit database")
	cmd.Flags().StringVar(&files.keys, "key-file", "", "file with the audit keys")
	cmd.Flags().StringVar(&files.chain, "chain", "", "chain to verify; that of the cluster, the UID of namespace kube-system, if not given")
	return cmd
}

func newAuditSchema() *cobra.Command {
	return &cobra.Command{
		Use: "schema", Short: "Print the SQL that prepares a database for audit records", Args: cobra.NoArgs,
		Long: "Print the SQL that prepares a PostgreSQL database for audit records: the table, what keeps it from being changed,\n" +
			"and a role each for those who append and those who read. An administrator of the database applies it, and\n" +
			"may do so again.",
		Example: "  kubectl statecraft audit schema | psql \"$ADMINISTRATOR\"",
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprint(cmd.OutOrStdout(), postgres.Schema)
			return err
		},
	}
}

func (o *options) verifyAudit(cmd *cobra.Command, files auditFiles) error {
	if files.dsn == "" || files.keys == "" {
		return errors.New("say where the connection string and the keys are: --dsn-file and --key-file")
	}
	keys, err := postgres.ReadKeys(files.keys)
	if err != nil {
		return err
	}
	r, _, err := o.reader()
	if err != nil {
		return err
	}
	if files.chain == "" {
		if files.chain, err = r.chain(cmd.Context()); err != nil {
			return err
		}
	}
	executions, err := r.recorded(cmd.Context()) // before the records: then all that these executions name are there
	if err != nil {
		return err
	}
	v := audit.Verifier{Chain: files.chain, Keys: keys, Executions: executions, Now: o.now()}
	v.Begin()
	if err := postgres.Read(cmd.Context(), files.dsn, files.chain, v.Next); err != nil {
		return err
	}
	report := v.End()
	if err := o.print(cmd, report, auditText(report, len(executions))); err != nil {
		return err
	}
	return ended(len(report.Findings) == 0)
}

// auditText is a report as text. What the database says may be anybody's.
func auditText(r audit.Report, executions int) string {
	var b strings.Builder
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "%-10s %s\n", f.Fault, explain.Visible(f.Message))
	}
	for _, note := range r.Notes {
		fmt.Fprintf(&b, "%-10s %s\n", "Note", explain.Visible(note))
	}
	end := "Nothing is wrong with them."
	if n := len(r.Findings); n > 0 {
		end = fmt.Sprintf("Faults: %d.", n)
	}
	fmt.Fprintf(&b, "%d records of chain %s were compared with their keys, and with %d executions of the cluster, of which %d name\nthe record of their intent. %s\n",
		r.Records, explain.Visible(r.Chain), executions, r.Anchors, end)
	return b.String()
}
