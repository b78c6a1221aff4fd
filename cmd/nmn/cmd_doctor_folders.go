package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"nmn/loader/published"
)

// withFolders are the flags that the look at published folders takes.
var withFolders = []string{"coco", "msrvtt", "json", "output"}

// folders reports whether published folders are to be looked at.
func (d *doctorCommand) folders() bool {
	return d.coco != "" || d.msrvtt != ""
}

// lookAtFolders looks at published folders, which needs no settings of training.
func (d *doctorCommand) lookAtFolders(cmd *cobra.Command, p *program) error {
	var other string
	cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		if f.Changed && !slices.Contains(withFolders, f.Name) {
			other = f.Name
		}
	})
	if other != "" {
		return usagef("doctor: --%s does not go with the folder of a published data set, which is looked at as it is: "+
			"leave it out, or give its files with the flags of nmn train", other)
	}
	looks := []func(context.Context) (*published.Folder, error){}
	if d.coco != "" {
		looks = append(looks, func(ctx context.Context) (*published.Folder, error) {
			return published.COCO(ctx, d.coco, published.COCOCounts())
		})
	}
	if d.msrvtt != "" {
		looks = append(looks, func(ctx context.Context) (*published.Folder, error) {
			return published.MSRVTT(ctx, d.msrvtt, published.MSRVTTCounts())
		})
	}
	var found []*published.Folder
	wrong := 0
	for _, look := range looks {
		f, err := look(cmd.Context())
		if err != nil {
			return fmt.Errorf("doctor: %w", err)
		}
		found, wrong = append(found, f), wrong+f.Errors()
	}
	if err := d.tellFolders(p, found); err != nil {
		return err
	}
	if wrong > 0 {
		return fmt.Errorf("doctor: the paper's protocol cannot be run on them, for %d of the findings: see their cures",
			wrong)
	}
	return nil
}

// tellFolders writes what was found to where it was asked for.
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
