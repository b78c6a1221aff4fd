package table4

import (
	"context"
	"fmt"
	"path/filepath"

	"nmn/captioner"
	"nmn/captioner/metrics"
	"nmn/internal/durable"
	"nmn/loader"
	"nmn/loader/annotation"
)

// clips are the clips of the experiment: captions, and folders of features.
type clips struct {
	title string // for the heading of the table
	// captions of each split. The test split is nil if there is none, and validation clips are scored.
	captions map[string]*metrics.Captions
	held     map[string]bool // training clips that end the training of a captioner, where they are not a split
	rows     []row
}

// row is a captioner of the table: its name, and the place of its features for a seed.
type row struct {
	name, title string
	folder      func(seed uint64) string
	aside       bool
}

// The splits of the experiment, as files of features are called after them.
const (
	splitTrain      = "train"
	splitValidation = "validation"
	splitTest       = "test"
)

// judged is the split that the table scores.
func (c *clips) judged() string {
	if c.captions[splitTest] != nil {
		return splitTest
	}
	return splitValidation
}

// ownClips are those in the folders of the caller, with the captions of one file.
func (e *Experiment) ownClips(ctx context.Context) (*clips, error) {
	c := &clips{captions: map[string]*metrics.Captions{}}
	msrvtt, err := annotation.IsMSRVTT(ctx, e.Captions)
	if err != nil {
		return nil, err
	}
	splits := map[string]string{splitTrain: "", splitValidation: "", splitTest: ""}
	if msrvtt {
		splits = map[string]string{splitTrain: loader.TrainSplit, splitValidation: loader.ValidationSplit,
			splitTest: loader.TestSplit}
	}
	for split, of := range splits {
		if split == splitTest && !durable.Exists(filepath.Join(e.Features[0].Folder, splitTest+".npy")) {
			continue
		}
		if c.captions[split], err = captioner.ReadCaptions(ctx, e.Captions, of); err != nil {
			return nil, err
		}
	}
	e.Captioner.Data.Partial = e.Captioner.Data.Partial || !msrvtt // one file has the captions of all splits
	c.title = fmt.Sprintf("%s clips of %s", c.judged(), filepath.Base(e.Captions))
	for _, f := range e.Features {
		c.rows = append(c.rows, row{name: f.Name, title: f.Name, folder: func(uint64) string { return f.Folder }})
	}
	return c, nil
}
