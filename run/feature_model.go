package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"nmn/internal/durable"
	"nmn/internal/setting"
	"nmn/loader"
	"nmn/model"
	"nmn/model/backbone"
	runfeatures "nmn/run/features"
	"nmn/train"
)

// throughBackbone puts features in the place of pictures, where the model has a backbone.
func (m *Model) throughBackbone(ctx context.Context, set *loader.Set, o *Reading) (*loader.Set, error) {
	about := m.checkpoint.Backbone
	if about == nil {
		return set, nil
	}
	if err := m.openBackbone(ctx, about); err != nil {
		return nil, err
	}
	width := m.net.Config().Input
	frames, offsets, err := runfeatures.FramesOf(ctx, set)
	if err != nil {
		return nil, err
	}
	v := &loader.HeldVectors{Dim: width, Rows: make([]float32, frames.Len()*width), Why: make([]error, set.Len()),
		Offsets: offsets}
	bad, err := m.backbone.Rows(ctx, frames, m.backbone.Loader(o.Batch, math.MaxInt32, o.MaxPixels),
		[]model.Layer{about.Layer},
		func(bag int, rows [][]float32) error {
			if len(rows[0]) != width {
				return fmt.Errorf("%s of %s has %d features, and the model takes %d", about.Layer, about.File, len(rows[0]), width)
			}
			copy(v.Rows[bag*width:], rows[0])
			return nil
		})
	if err != nil {
		return nil, err
	}
	for _, b := range bad {
		bag := runfeatures.BagOf(offsets, b.Bag)
		v.Why[bag] = cmp.Or(v.Why[bag], b.Err)
	}
	featured := *set
	featured.Source, featured.Vectors, featured.Pictures = nil, v, set.Source
	return &featured, nil
}

// openBackbone opens the backbone of the model, if it is not open: the file that it was trained with, with the same
// content.
func (m *Model) openBackbone(ctx context.Context, about *train.Backbone) error {
	if m.backbone != nil {
		return nil
	}
	file := about.File
	if c, err := ReadConfig(m.folder); m.folder != "" && err == nil && durable.Exists(c.Net.Backbone) {
		file = c.Net.Backbone // where it lies now
	}
	if !durable.Exists(file) {
		return setting.Errorf("", "%s was trained on features of %s (%s, sha256 %.12s…), and there is no such file now: put "+
			"it back", m.file, about.File, about.Net, about.SHA256)
	}
	pre := &about.Pictures
	opened, err := m.session.OpenBackbone(ctx, file, backbone.Options{Size: pre.Crop, Resize: pre.Resize,
		Mean: pre.Mean[:], Deviation: pre.Deviation[:], GELU: about.GELU, Heads: about.Heads})
	if err != nil {
		return err
	}
	b := opened.net
	if b.Digest != about.SHA256 {
		return errors.Join(setting.Errorf("", "%s was trained on features of %s as it was then (sha256 %.12s…), and the "+
			"file has changed (%.12s…): put the old one back", m.file, about.File, about.SHA256, b.Digest), b.Close())
	}
	m.backbone = b
	return nil
}
