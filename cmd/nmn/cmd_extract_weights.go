package main

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"nmn/internal/setting"
	"nmn/loader/picture"
	"nmn/model"
	"nmn/model/backbone"
	"nmn/model/vit"
	"nmn/run"
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
	for _, name := range []string{"checkpoint", "fit", "resize", "orientation"} {
		if f := cmd.Flags().Lookup(name); f != nil && f.Changed {
			return usagef("extract: --%s is for a MODEL of nmn; the net of --weights knows what it wants of pictures: leave it out",
				name)
		}
	}
	if err := c.about.Validate(); err != nil {
		return &setting.Error{Err: err}
	}
	if !c.sources.print {
		if err := c.check(cmd, paths); err != nil {
			return err
		}
	}
	if !cmd.Flags().Changed("layer") {
		c.options.Layers = nil
	}
	ctx := cmd.Context()
	if len(paths) > 0 {
		return c.pretrainedPictures(ctx, p, paths)
	}
	if err := c.sources.resolve(cmd.Flags(), &c.config); err != nil {
		return err
	}
	if c.sources.print {
		if err := c.printBackbone(p); err != nil {
			return err
		}
		return printConfig(p, &c.config)
	}
	return c.pretrainedData(ctx, p)
}

// pretrainedPictures extracts from files and folders.
func (c *extractCommand) pretrainedPictures(ctx context.Context, p *program, paths []string) (err error) {
	if c.sources.print {
		return c.printBackbone(p)
	}
	b, err := run.OpenBackbone(ctx, c.weights, c.about, run.ModelOptions{Run: c.config.Run, Log: p.log, Message: p.tell})
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, b.Close()) }()
	d := &c.config.Data
	c.options.MaxPixels, c.options.MaxBadSamples = d.MaxPixels, d.MaxBadSamples
	return c.write(p, func(o run.ExtractOptions) ([]run.Extracted, error) { return b.Extract(ctx, paths, o) })
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
	return c.write(p, func(o run.ExtractOptions) ([]run.Extracted, error) { return b.Extract(ctx, nil, o) })
}

// printBackbone shows which net the weights are of, and how pictures are prepared for it.
func (c *extractCommand) printBackbone(p *program) (err error) {
	info, err := recogniseBackbone(p, c.weights, c.about)
	if err != nil {
		return err
	}
	return writeBackbone(p, c.weights, info)
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

// writeBackbone prints a net as YAML.
func writeBackbone(p *program, file string, info *backbone.Info) error {
	pre := info.Pictures
	layers := yaml.Node{Kind: yaml.MappingNode}
	for _, l := range info.Layers {
		layers.Content = append(layers.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: string(l.Name)},
			&yaml.Node{Kind: yaml.ScalarNode, Value: fmt.Sprint(l.Width)})
	}
	shown := struct {
		Weights   string
		Net       string
		InputSize int `yaml:"input_size"`
		Resize    int
		Square    bool `yaml:"square,omitempty"`
		Filter    picture.Filter
		Crop      int
		GELU      vit.GELU   `yaml:"gelu,omitempty"`
		Heads     int        `yaml:"heads,omitempty"`
		Mean      [3]float32 `yaml:"mean,flow"`
		Deviation [3]float32 `yaml:"deviation,flow"`
		Layers    yaml.Node
	}{file, info.Name, pre.Crop, pre.Resize, pre.Square, pre.Filter, pre.Crop, info.GELU, info.Heads, pre.Mean, pre.Deviation, layers}
	data, err := yaml.Marshal(map[string]any{"backbone": shown})
	if err != nil {
		return err
	}
	_, err = p.out.Write(data)
	return err
}
