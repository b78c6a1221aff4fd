package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"nmn/model"
	"nmn/model/export"
	"nmn/run"
	"nmn/train"
)

type exportCommand struct {
	checkpoint run.Checkpoint
	output     string
	observed   bool
	input      graphInput
	asJSON     bool
}

// graphInput is the input of an exported net on pictures.
type graphInput string

const (
	inputNormalised graphInput = "normalised"
	inputPixels     graphInput = "pixels"
)

func newExport(p *program) *cobra.Command {
	c := exportCommand{checkpoint: run.Last, input: inputNormalised}
	cmd := &cobra.Command{
		Use:   "export MODEL",
		Short: "Write a model for other programs: ONNX, safetensors or NumPy",
		Long: `Write MODEL, a run folder or a checkpoint, in the format of the ending of --output: .onnx for
ONNX Runtime, or the weights as .safetensors or .npz.`,
		Annotations: details(`An .onnx file (opset 17) has the whole computation from pictures or features to the probabilities
p(y=1) of the labels, with MIL's noisy-or. It takes any batch size, and pictures of any height
and width. .safetensors and .npz have the weights under torchvision's names; --init reads both,
and a .safetensors file is also a MODEL. With --observed, .onnx has p(z=1), the probability of
the observed label, as a second output; other formats have the weights of the noise model.`),
		Example: `  nmn export runs/fd --output labels.onnx
  nmn export runs/fd --output labels.onnx --observed --input pixels
  nmn export runs/fd --checkpoint best --output labels.safetensors`,
		Args: arguments(p, counted(1, 1)),
		RunE: func(cmd *cobra.Command, args []string) error { return c.export(cmd.Context(), p, args[0]) },
	}
	m := under(cmd, "Model")
	checkpointFlag(m, &c.checkpoint)
	m.bool(&c.observed, "observed", "include the noise model")
	out := under(cmd, "Output")
	out.file(&c.output, "output", "write this `file`: .onnx, .safetensors or .npz", "onnx", "safetensors", "npz")
	enum(out, &c.input, "input", "make the .onnx `take` these pixels, normalised or 0 to 255", inputNormalised,
		inputPixels)
	out.bool(&c.asJSON, "json", "print what was written as JSON")
	return cmd
}

func (c *exportCommand) export(ctx context.Context, p *program, path string) (err error) {
	ending := export.Ending(c.output)
	switch {
	case !slices.Contains(export.Endings, ending):
		return usagef("export: --output is %q, want the name of a file that ends in .onnx, .safetensors or .npz", c.output)
	case ending != ".onnx" && c.input != inputNormalised:
		return usagef("export: --input is for .onnx; %s files have weights", ending)
	}
	file, _, err := run.FindCheckpoint(path, c.checkpoint)
	if err != nil {
		return err
	}
	if sameFile(file, c.output) {
		return usagef("export: --output %s is the model itself: name another file", c.output)
	}
	host := run.DefaultConfig().Run
	host.Device = "cpu"
	m, err := p.openModel(ctx, file, c.checkpoint, host)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, m.Close()) }()
	if c.observed && m.Net().Config().Noise == model.NoNoise {
		return usagef("export: --observed: %s has no noise model", file)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	done, err := c.write(file, ending, m)
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", c.output, err)
	}
	if b := m.Checkpoint().Backbone; b != nil && !p.quiet {
		fmt.Fprintf(p.status, "%s is only the head: it takes %d features, %s of %s (%s); compute them with nmn "+
			"extract --weights %s\n",
			c.output, m.Net().Config().Input, b.Layer, b.File, b.Net, b.File)
	}
	return p.print(c.asJSON, done, "%v\n", done)
}

func (c *exportCommand) write(file, ending string, m *run.Model) (done export.Written, err error) {
	o := export.FileOptions{GraphOptions: export.GraphOptions{Observed: c.observed, Pixels: c.input == inputPixels,
		Words: m.Vocabulary().Texts(), Version: run.ThisBuild().Version}}
	if m.Net().Config().Input == 0 {
		p := m.Pictures()
		o.Fit, o.Resize, o.Orientation = string(p.Fit), string(p.Resize), string(p.Orientation)
	}
	if ending == ".safetensors" {
		if o.Metadata, err = train.ExportMetadata(file, c.observed); err != nil {
			return done, err
		}
	}
	return export.File(c.output, m.Net(), o)
}

func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	y, err2 := os.Stat(b)
	return err == nil && err2 == nil && os.SameFile(x, y)
}
