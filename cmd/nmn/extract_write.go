package main

import (
	"context"
	"errors"
	"fmt"

	dense "gorgonia.org/tensor"

	"nmn/features"
	"nmn/loader"
	"nmn/model"
	"nmn/train"
)

// extracted tells what was written.
type extracted struct {
	File     string      `json:"file"`
	Layer    model.Layer `json:"layer"`
	Rows     int         `json:"rows"`
	Features int         `json:"features"`
	LeftOut  int         `json:"left_out"`
}

// String describes it for people.
func (e extracted) String() string {
	return fmt.Sprintf("%s: %d rows of %d features, %s", e.File, e.Rows, e.Features, e.Layer)
}

// write streams the rows of a set to the output; clips, where not nil, are those that the rows are frames
// of. Labels and identifiers of the rows come first, and the
// features appear when all is there.
func (c *extractCommand) write(ctx context.Context, p *program, net *model.Net, set *loader.Set, clips *clipRows) (err error) {
	width, err := net.Config().LayerWidth(c.layer)
	if err != nil {
		return err
	}
	if !set.Videos() { // the size of the batch is the limit on what goes through the net together
		if err := net.ChunkFrames(0); err != nil {
			return err
		}
	}
	w, err := features.Create(c.output, width)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	l := c.config.loader()
	l.BatchBags = c.batch
	index := make([]int, 0, set.Len())
	told := c.progress(p, set.Len())
	bad, err := train.Extract(ctx, net, set, l, c.layer, func(bag int, row []float32) error {
		index = append(index, bag)
		told(len(index))
		return w.Write(row)
	})
	p.status.clear()
	if err != nil {
		return err
	}
	tellLeftOut(p, bad, set)
	if err := c.writeNames(set, index); err != nil {
		return err
	}
	if c.clips != "" {
		if err := clips.write(c.clips, index); err != nil {
			return err
		}
	}
	if err := w.Commit(); err != nil {
		return err
	}
	done := extracted{c.output, c.layer, len(index), width, len(bad)}
	if c.asJSON {
		return writeJSON(p.out, done)
	}
	_, err = fmt.Fprintln(p.out, done)
	return err
}

// writeNames writes what tells the rows apart: identifiers, and labels where there are any.
func (c *extractCommand) writeNames(set *loader.Set, index []int) error {
	ids := make([]string, len(index))
	for row, bag := range index {
		ids[row] = set.IDs[bag]
	}
	if c.ids != "" {
		if err := loader.WriteIDs(c.ids, ids); err != nil {
			return err
		}
	}
	for _, table := range []struct {
		file   string
		labels *dense.Dense
	}{{c.labels, set.Labels}, {c.truth, set.Truth}} {
		if table.file == "" {
			continue
		}
		k, labels := set.Vocabulary.Len(), table.labels.Uint8s()
		if err := writeLabels(table.file, classNames(set.Vocabulary), ids, len(index), func(row int) []uint8 {
			return labels[index[row]*k : (index[row]+1)*k]
		}); err != nil {
			return err
		}
	}
	return nil
}

// progress shows a person at a terminal how far it is.
func (c *extractCommand) progress(p *program, bags int) func(done int) {
	if p.quiet || !p.interactive(p.err) {
		return func(int) {}
	}
	shown := -1
	return func(done int) {
		if percent := 100 * done / bags; percent != shown {
			shown = percent
			p.status.show(fmt.Sprintf("%s: %d %%, %d of %d pictures", c.layer, percent, done, bags))
		}
	}
}
