package main

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"nmn/kernels/simd"
)

// revision is set by the linker where the program is built away from its checkout, as in an image:
// -ldflags="-X main.revision=...".
var revision string

// build tells which program made a result.
type build struct {
	Version  string `yaml:"version" json:"version"` // of the module, (devel) for a build from a checkout
	Revision string `yaml:"revision,omitempty" json:"revision,omitempty"`
	Modified bool   `yaml:"modified,omitempty" json:"modified,omitempty"` // the checkout differed from the revision
	Go       string `yaml:"go" json:"go"`
	Platform string `yaml:"platform" json:"platform"`
	SIMD     string `yaml:"simd" json:"simd"`
}

func thisBuild() build {
	b := build{Version: "(unknown)", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, SIMD: "none", Revision: revision}
	if level, err := simd.Detect(); err == nil {
		b.SIMD = level.String()
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if info.Main.Version != "" {
		b.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Revision = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

func newVersion(p *program) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version of the program",
		Long:  "Print the version, the revision it was built from, Go's version and the instruction set in use.",
		Example: `  nmn version
  nmn version --json`,
		Args: refuseArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			b := thisBuild()
			if asJSON {
				return writeJSON(p.out, b)
			}
			revision := ""
			if b.Revision != "" {
				revision = ", revision " + b.Revision
				if b.Modified {
					revision += " with changes"
				}
			}
			_, err := fmt.Fprintf(p.out, "nmn %s%s, %s, %s, SIMD %s\n", b.Version, revision, b.Go, b.Platform, b.SIMD)
			return err
		},
	}
	under(cmd, "Output").bool(&asJSON, "json", "write JSON")
	return cmd
}

// writeJSON writes v indented, with a newline behind it.
func writeJSON(w io.Writer, v any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(v)
}
