package main

import (
	"context"
	"errors"
	"fmt"

	"nmn/loader"
	"nmn/loader/features"
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

// write streams the rows of a set to the outputs; clips, where not nil, are those that the rows are frames
// of. Labels and identifiers of the rows come first, and the features appear when all is there.
func (c *extractCommand) write(ctx context.Context, p *program, net *model.Net, set *loader.Set, clips *clipRows) (err error) {
	if !set.Videos() { // the size of the batch is the limit on what goes through the net together
		if err := net.ChunkFrames(0); err != nil {
			return err
		}
	}
	files, err := c.create(net)
	defer func() {
		for _, f := range files {
			err = errors.Join(err, f.Close())
		}
	}()
	if err != nil {
		return err
	}
	l := c.config.Loader()
	l.BatchBags = c.batch
	index := make([]int, 0, set.Len())
	told := c.progress(p, set.Len())
	bad, err := train.Extract(ctx, net, set, l, c.layers, func(bag int, rows [][]float32) error {
		index = append(index, bag)
		told(len(index))
		for i, row := range rows {
			if err := files[i].Write(row); err != nil {
				return err
			}
		}
		return nil
	})
	p.status.clear()
	if err != nil {
		return err
	}
	tellLeftOut(p, bad, set)
	if err := c.writeNames(ctx, set, index); err != nil {
		return err
	}
	if c.clips != "" {
		if err := clips.write(ctx, c.clips, index); err != nil {
			return err
		}
	}
	done := make([]extracted, len(files))
	for i, f := range files {
		if err := f.Commit(); err != nil {
			return err
		}
		done[i] = extracted{c.outputs[i], c.layers[i], len(index), f.width, len(bad)}
	}
	return c.tell(p, done)
}

// layerFile takes the rows of a layer.
type layerFile struct {
	*features.Writer
	width int
}

// create starts the outputs. After an error those that it has started must be closed too.
func (c *extractCommand) create(net *model.Net) (files []layerFile, err error) {
	for i, layer := range c.layers {
		width, err := net.Config().LayerWidth(layer)
		if err != nil {
			return files, err
		}
		w, err := features.Create(c.outputs[i], width)
		if err != nil {
			return files, err
		}
		files = append(files, layerFile{w, width})
	}
	return files, nil
}

// tell says what was written: in JSON an object, or a list of them where several layers were asked for.
func (c *extractCommand) tell(p *program, done []extracted) error {
	if c.asJSON && len(done) == 1 {
		return writeJSON(p.out, done[0])
	}
	if c.asJSON {
		return writeJSON(p.out, done)
	}
	for _, of := range done {
		if _, err := fmt.Fprintln(p.out, of); err != nil {
			return err
		}
	}
	return nil
}

// writeNames writes what tells the rows apart: identifiers, and labels where there are any.
func (c *extractCommand) writeNames(ctx context.Context, set *loader.Set, index []int) error {
	if c.ids == "" && c.labels == "" && c.truth == "" {
		return nil
	}
	var row loader.Row
	ids := make([]string, len(index))
	for i, bag := range index {
		if err := set.Row(ctx, bag, &row); err != nil {
			return err
		}
		ids[i] = row.ID
	}
	if c.ids != "" {
		if err := loader.WriteIDs(c.ids, ids); err != nil {
			return err
		}
	}
	for _, table := range []struct {
		file string
		of   func() []int32
	}{{c.labels, func() []int32 { return row.Labels }}, {c.truth, func() []int32 { return row.Truth }}} {
		if table.file == "" {
			continue
		}
		labels := make([]uint8, set.Vocabulary.Len())
		err := writeLabels(table.file, set.Vocabulary.Texts(), ids, len(index), func(i int) ([]uint8, error) {
			err := set.Row(ctx, index[i], &row)
			clear(labels)
			for _, class := range table.of() {
				labels[class] = 1
			}
			return labels, err
		})
		if err != nil {
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
			p.status.show(fmt.Sprintf("extracted: %d %%, %d of %d pictures", percent, done, bags))
		}
	}
}
