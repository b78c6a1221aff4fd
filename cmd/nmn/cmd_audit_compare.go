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
		Short: "Compare runs before and after labels were corrected",
		Long: `Compare finished runs on the same pictures with different labels; the first run has the original
labels. The table counts changed labels, wrong labels if true labels are known, and scores.`,
		Example: `  nmn audit compare runs/mine runs/mine-corrected`,
		Args:    arguments(p, counted(2, anyNumber)),
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
