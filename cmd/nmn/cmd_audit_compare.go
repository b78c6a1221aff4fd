package main

import (
	"github.com/spf13/cobra"

	"nmn/report"
	runaudit "nmn/run/audit"
)

// newAuditCompare declares nmn audit compare.
func newAuditCompare(p *program) *cobra.Command {
	var shown tablesOutput
	cmd := &cobra.Command{
		Use:   "compare RUN RUN...",
		Short: "Say what corrected labels have gained: runs on the same bags, before and after",
		Long: `Compare finished runs on the same bags with other labels, the first before the others: how
many labels were changed, how many are wrong where the true labels are known, and what the
nets are worth on the split that they were judged on.`,
		Example: `  nmn audit compare runs/mine runs/mine-corrected`,
		Args:    arguments(p, cobra.MinimumNArgs(2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			runs, err := runaudit.CompareLabels(cmd.Context(), args, p.log)
			if err != nil {
				return err
			}
			return shown.write(p, func() any { return runs },
				func() []*report.Table { return []*report.Table{report.LabelGainTable(runs)} })
		},
		ValidArgsFunction: completeFolders,
	}
	shown.flags(under(cmd, "Output"))
	return cmd
}
