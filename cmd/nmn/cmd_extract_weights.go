package main

import (
	"cmp"
	"context"
	"slices"

	"github.com/spf13/cobra"

	"nmn/model"
	"nmn/model/backbone"
	"nmn/run"
	runfeatures "nmn/run/features"
	"nmn/run/weights/pretrained"
)

// transformerLayers are those of vision transformers.
func transformerLayers() []model.Layer { return []model.Layer{"cls", "mean", "cls+mean", "embedding"} }

func (c *extractCommand) weightsFlags(r group) {
	r.file(&c.weights, "weights", "`file` of a pretrained net that takes the place of MODEL: .safetensors, .pth, .npz "+
		"or .caffemodel", "pth", "pt", "bin", "safetensors", "npz", "caffemodel")
	r.int(&c.about.Size, "input-size", "--weights: height and width of the input in `pixels` (default that of the net)")
	pretrainedFlags(r, &c.about)
}

// args wants a model, unless there are weights.
func (c *extractCommand) args(cmd *cobra.Command, args []string) error {
	if c.weights == "" {
		return cobra.MinimumNArgs(1)(cmd, args)
	}
	return nil
}

// pretrained extracts by a pretrained net.
func (c *extractCommand) pretrained(cmd *cobra.Command, p *program, paths []string) error {
	for _, one := range c.sources.given {
		if slices.Contains([]string{"data.fit", "data.resize", "data.orientation"}, one.Key) {
			return usagef("extract: %s is for a MODEL of nmn; the net of --weights knows what it wants of pictures: leave it "+
				"out",
				one.Key)
		}
	}
	if cmd.Flags().Changed("checkpoint") {
		return usagef("extract: --checkpoint is for a MODEL of nmn: leave it out")
	}
	if err := checkPretrained(&c.about); err != nil {
		return err
	}
	var err error
	if c.weights, err = pretrained.Find(c.weights); err != nil {
		return usageError{err}
	}
	if err := c.check(cmd, paths); err != nil {
		return err
	}
	if !cmd.Flags().Changed("layer") {
		c.options.Layers = nil
	}
	ctx := cmd.Context()
	if len(paths) > 0 {
		return c.pretrainedPictures(ctx, p, paths)
	}
	if err := c.sources.of().Resolve(&c.config); err != nil {
		return err
	}
	return c.pretrainedData(ctx, p)
}

// pretrainedPictures extracts from files and folders.
func (c *extractCommand) pretrainedPictures(ctx context.Context, p *program, paths []string) (err error) {
	b, err := run.OpenBackbone(ctx, c.weights, c.about, run.ModelOptions{Run: c.config.Run, Log: p.log, Message: p.tell})
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, b.Close()) }()
	d := &c.config.Data
	c.options.MaxPixels, c.options.MaxBadSamples = d.MaxPixels, d.MaxBadSamples
	return c.write(p, func(o run.ExtractOptions) ([]runfeatures.Extracted, error) { return b.Extract(ctx, paths, o) })
}

// pretrainedData extracts from a split of a configuration.
func (c *extractCommand) pretrainedData(ctx context.Context, p *program) (err error) {
	s, err := openWatched(ctx, p, c.config, metricsOptions{})
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, s.Close()) }()
	b, err := s.OpenBackbone(ctx, c.weights, c.about)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, b.Close()) }()
	return c.write(p, func(o run.ExtractOptions) ([]runfeatures.Extracted, error) { return b.Extract(ctx, nil, o) })
}

// recogniseBackbone finds out which net a file of weights is of, on the CPU.
func recogniseBackbone(p *program, file string, about backbone.Options) (info *backbone.Info, err error) {
	device, _, err := run.OpenDevice(&run.Resources{Device: "cpu"}, p.log)
	if err != nil {
		return nil, err
	}
	defer func() { err = cmp.Or(err, device.Close()) }()
	return backbone.Recognise(file, about, device)
}
