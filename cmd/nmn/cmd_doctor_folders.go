package main

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"nmn/loader/published"
)

// withFolders are the flags for published folders.
var withFolders = []string{"coco", "msrvtt", "json", "output"}

// lookAtFolders checks published folders, without settings of training.
func (d *doctorCommand) lookAtFolders(cmd *cobra.Command, p *program) error {
	var other string
	cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		if f.Changed && !slices.Contains(withFolders, f.Name) {
			other = f.Name
		}
	})
	if other != "" {
		return usagef("doctor: --%s does not apply to the folder of a published data set: "+
			"leave it out, or give the files with the flags of nmn train", other)
	}
	var found []*published.Folder
	if d.coco != "" {
		f, err := published.COCO(cmd.Context(), d.coco, published.COCOCounts())
		if err != nil {
			return fmt.Errorf("doctor: %w", err)
		}
		found = append(found, f)
	}
	if d.msrvtt != "" {
		f, err := published.MSRVTT(cmd.Context(), d.msrvtt, published.MSRVTTCounts())
		if err != nil {
			return fmt.Errorf("doctor: %w", err)
		}
		found = append(found, f)
	}
	wrong := 0
	err := d.write(p, found, func(b *bytes.Buffer) error {
		for i, f := range found {
			if i > 0 {
				fmt.Fprintln(b)
			}
			if err := cmp.Or(f.Write(b), d.findings(p, b, f.Findings)); err != nil {
				return err
			}
		}
		return nil
	})
	for _, f := range found {
		wrong += f.Errors()
	}
	if err == nil && wrong > 0 {
		err = fmt.Errorf("doctor: %d problems prevent the paper's protocol; fixes are listed above", wrong)
	}
	return err
}
