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

// folders reports whether published folders are to be checked.
func (d *doctorCommand) folders() bool {
	return d.coco != "" || d.msrvtt != ""
}

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
	wrong := 0
	for _, of := range []struct {
		folder string
		check  func() (*published.Folder, error)
	}{
		{d.coco, func() (*published.Folder, error) {
			return published.COCO(cmd.Context(), d.coco, published.COCOCounts())
		}},
		{d.msrvtt, func() (*published.Folder, error) {
			return published.MSRVTT(cmd.Context(), d.msrvtt, published.MSRVTTCounts())
		}},
	} {
		if of.folder == "" {
			continue
		}
		f, err := of.check()
		if err != nil {
			return fmt.Errorf("doctor: %w", err)
		}
		found, wrong = append(found, f), wrong+f.Errors()
	}
	if err := d.tellFolders(p, found); err != nil {
		return err
	}
	if wrong > 0 {
		return fmt.Errorf("doctor: %d problems prevent the paper's protocol; fixes are listed above", wrong)
	}
	return nil
}

// tellFolders prints the findings about published folders.
func (d *doctorCommand) tellFolders(p *program, found []*published.Folder) error {
	return d.write(p, found, func(b *bytes.Buffer) error {
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
}
