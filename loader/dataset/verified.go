package dataset

import (
	"context"
	"fmt"
	"slices"

	"nmn/internal/setting"
	"nmn/loader"
	"nmn/loader/manifest"
)

// readVerified reads the configured list of verified pictures, if any.
func (d *Splits) readVerified(ctx context.Context, c *Config) (err error) {
	if c.Verified == "" {
		return nil
	}
	if d.Train.Rows != nil {
		return setting.Errorf("data.verified", "verified pictures need all labels in memory, and %s has too many: "+
			"raise `run.label_memory`", d.Train.Name)
	}
	if d.Verified, err = d.ReadVerified(ctx, c.Verified); err != nil {
		return err
	}
	note := fmt.Sprintf("%s of %s, whose labels were checked", d.Train.Noun().Count(len(d.Verified.Bags)), c.Verified)
	if n := d.Verified.HeldOut; n > 0 {
		note += fmt.Sprintf("; %d of validation or test are not used", n)
	}
	d.notes = append(d.notes, note)
	return nil
}

// ReadVerified reads a list of training pictures with all their true labels.
func (d *Splits) ReadVerified(ctx context.Context, file string) (*manifest.Verified, error) {
	of := manifest.VerifiedOf{Bags: d.Train.IDs, Words: d.Train.Vocabulary.Texts(), File: func(bag string) string {
		if picture, ok := d.PictureFile(bag); ok {
			return picture.Name
		}
		return bag
	}}
	for _, set := range []*loader.Set{d.Validation, d.Test} {
		if set != nil {
			of.HeldOut = slices.Concat(of.HeldOut, set.IDs)
		}
	}
	return manifest.ReadVerified(ctx, file, of)
}
