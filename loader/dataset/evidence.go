package dataset

import (
	"context"
	"fmt"
	"slices"

	dense "gorgonia.org/tensor"

	"nmn/format/table"
	"nmn/internal/setting"
	"nmn/loader"
	"nmn/loader/manifest"
)

// readEvidence reads the configured file of evidence, if any, which replaces the training labels. Without
// names of bags, its rows are the rows of the whole set before validation and test were held out.
func (d *Splits) readEvidence(c *Config) error {
	if c.Evidence == "" {
		return nil
	}
	set := d.Train
	if set.Rows != nil {
		return setting.Errorf("data.evidence",
			"evidence is a matrix, and the labels of %s are not in memory: raise `run.label_memory`", set.Name)
	}
	file, err := table.ReadEvidence(c.Evidence)
	if err != nil {
		return whereItStarted(err, c.Evidence)
	}
	values, err := file.Select(set.IDs, d.OriginalIDs(), set.Vocabulary.Texts())
	if err != nil {
		return fmt.Errorf("evidence: %w", err)
	}
	d.Evidence = dense.New(dense.WithShape(set.Len(), set.Vocabulary.Len()), dense.WithBacking(values))
	d.notes = append(d.notes, describeEvidence(c.Evidence, values))
	return nil
}

// describeEvidence returns how many labels the evidence supports and contradicts, as text.
func describeEvidence(file string, values []float32) string {
	toward, against := 0, 0
	for _, v := range values {
		switch {
		case v > 0:
			toward++
		case v < 0:
			against++
		}
	}
	percent := func(n int) float64 { return 100 * float64(n) / float64(len(values)) }
	return fmt.Sprintf("evidence of %s in place of labels: %.1f %% for, %.1f %% against, of %.1f %% nothing is known",
		file, percent(toward), percent(against), percent(len(values)-toward-against))
}

// ofFrames repeats the evidence of each video for its frames; nil for nil.
func ofFrames(evidence *dense.Dense, index *loader.FrameIndex) *dense.Dense {
	if evidence == nil {
		return nil
	}
	k := evidence.Shape()[1]
	values := make([]float32, 0, index.Frames()*k)
	for frame := range index.Frames() {
		video, _ := index.Of(frame)
		values = append(values, evidence.Float32s()[video*k:][:k]...)
	}
	return dense.New(dense.WithShape(index.Frames(), k), dense.WithBacking(values))
}

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
