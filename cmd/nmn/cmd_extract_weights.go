package main

import (
	"cmp"
	"context"
	"slices"

	"github.com/spf13/cobra"

	"nmn/model/backbone"
	"nmn/run"
	"nmn/run/weights/pretrained"
)

func (c *extractCommand) weightsFlags(r group) {
	r.file(&c.weights, "weights", "use this pretrained `net`, a file or a name of nmn weights",
		"pth", "pt", "bin", "safetensors", "npz")
	r.int(&c.about.Size, "input-size", "resize pictures to this many `pixels` for --weights")
	pretrainedFlags(r, &c.about)
	r.rare("gelu", "heads", "input-resize", "input-mean", "input-deviation")
}

// args requires a model unless --weights is given.
func (c *extractCommand) args(cmd *cobra.Command, args []string) error {
	if c.weights == "" {
		return counted(1, anyNumber)(cmd, args)
	}
	return nil
}

// pretrained extracts features with a pretrained net.
func (c *extractCommand) pretrained(cmd *cobra.Command, p *program, paths []string) error {
	for _, one := range c.sources.given {
		if slices.Contains([]string{"data.fit", "data.resize", "data.orientation"}, one.Key) {
			return usagef("extract: %s is for a MODEL of nmn, not for --weights: leave it out", one.Key)
		}
	}
	if cmd.Flags().Changed("checkpoint") {
		return usagef("extract: --checkpoint is for a MODEL of nmn, not for --weights: leave it out")
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
	if len(paths) == 0 {
		if err := c.sources.of().Resolve(&c.config); err != nil {
			return err
		}
	}
	return c.from(cmd.Context(), p, paths, func(ctx context.Context, s *watchedSession) (extractor, error) {
		if s != nil {
			return s.OpenBackbone(ctx, c.weights, c.about)
		}
		return run.OpenBackbone(ctx, c.weights, c.about, run.ModelOptions{Run: c.config.Run, Log: p.log, Message: p.message})
	})
}

// recogniseBackbone recognises the net in a file of weights, on the CPU.
func recogniseBackbone(p *program, file string, about backbone.Options) (info *backbone.Info, err error) {
	device, _, err := run.OpenDevice(&run.Resources{Device: "cpu"}, 0, false, p.log)
	if err != nil {
		return nil, err
	}
	defer func() { err = cmp.Or(err, device.Close()) }()
	return backbone.Recognise(file, about, device)
}
