package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"nmn/internal/durable"
	"nmn/report"
)

func newFigure3(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "figure3 [FILE]",
		Short: "Draw the paper's Figure 3: gradients with a noise model",
		Long: `Draw the paper's Figure 3: the derivative of the loss for a missing and an incorrect label, with
and without a noise model. FILE ends in .svg; the default is figure3.svg.`,
		Example: `  nmn figure3
  nmn figure3 docs/background/figure3.svg`,
		Args:              arguments(p, counted(0, 1)),
		ValidArgsFunction: completeFiles("svg"),
		RunE: func(_ *cobra.Command, args []string) error {
			file := "figure3.svg"
			if len(args) > 0 {
				file = args[0]
			}
			if strings.ToLower(filepath.Ext(file)) != ".svg" {
				return usagef("figure3: %s: the name must end in .svg", file)
			}
			var b bytes.Buffer
			if err := report.Figure3(&b); err != nil {
				return err
			}
			if err := durable.Save(file, b.Bytes()); err != nil {
				return err
			}
			_, err := fmt.Fprintln(p.out, file)
			return err
		},
	}
}
