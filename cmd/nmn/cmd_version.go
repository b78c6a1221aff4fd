package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"nmn/run"
)

func newVersion(p *program) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version of the program",
		Long:  "Print the version, the source revision, the version of Go and the instruction set in use.",
		Example: `  nmn version
  nmn version --json`,
		Args: refuseArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if asJSON {
				return writeJSON(p.out, run.ThisBuild())
			}
			return p.printVersion()
		},
	}
	under(cmd, "Output").bool(&asJSON, "json", "print JSON")
	return cmd
}

func (p *program) printVersion() error {
	b := run.ThisBuild()
	revision := ""
	if b.Revision != "" {
		revision = ", revision " + b.Revision
		if b.Modified {
			revision += " with changes"
		}
	}
	_, err := fmt.Fprintf(p.out, "nmn %s%s, %s, %s, SIMD %s\n", b.Version, revision, b.Go, b.Platform, b.SIMD)
	return err
}
