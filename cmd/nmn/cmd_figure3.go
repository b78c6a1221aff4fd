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
		Use:   "figure3 [FILE...]",
		Short: "Draw the paper's Figure 3: gradients with a noise model",
		Long: `Draw the paper's Figure 3: the derivative of the loss for a missing and an incorrect label, with
and without a noise model. Each FILE ends in .svg; the default is figure3.svg.`,
		Example: `  nmn figure3
  nmn figure3 docs/background/figure3.svg`,
		ValidArgsFunction: completeFiles("svg"),
		RunE: func(_ *cobra.Command, files []string) error {
			if len(files) == 0 {
				files = []string{"figure3.svg"}
			}
			for _, file := range files {
				if strings.ToLower(filepath.Ext(file)) != ".svg" {
					return usagef("figure3: %s: the name must end in .svg", file)
				}
			}
			for _, file := range files {
				if err := writeFigure3(file); err != nil {
					return err
				}
				fmt.Fprintln(p.out, file)
			}
			return nil
		},
	}
}

func writeFigure3(file string) error {
	var b bytes.Buffer
	if err := report.Figure3(&b); err != nil {
		return err
	}
	return durable.Save(file, b.Bytes())
}
