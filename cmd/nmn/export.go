package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"nmn/internal/durable"
	"nmn/model"
	"nmn/model/export"
	"nmn/run"
	"nmn/train"
)

// exportCommand are the flags of nmn export.
type exportCommand struct {
	checkpoint run.Checkpoint
	output     string
	observed   bool
	input      graphInput
	asJSON     bool
}

// graphInput is what a graph of a net on pictures takes.
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
		Long: `Write MODEL, a run folder or a checkpoint, in the format that the ending of --output names.
.onnx is the whole computation from pictures or features to the probabilities p(y=1) of the
words, with MIL's noisy-or, for ONNX Runtime and the like (opset 17); any batch size, and any
height and width of pictures. .safetensors and .npz are the weights under torchvision's
names; nmn reads them again, with --init, and the .safetensors as a MODEL too.`,
		Example: `  nmn export runs/fd --output words.onnx
  nmn export runs/fd --output words.onnx --observed --input pixels
  nmn export runs/fd --checkpoint best --output words.safetensors`,
		Args:              arguments(p, cobra.ExactArgs(1)),
		ValidArgsFunction: completeModels,
		RunE:              func(cmd *cobra.Command, args []string) error { return c.export(cmd.Context(), p, args[0]) },
	}
	m := under(cmd, "Model")
	checkpointFlag(m, &c.checkpoint)
	m.bool(&c.observed, "observed", "the noise model too: in .onnx p(z=1), that people would say the word, as a second output; elsewhere its weights")
	out := under(cmd, "Output")
	out.file(&c.output, "output", "`file` to write, .onnx, .safetensors or .npz", "onnx", "safetensors", "npz")
	enum(out, &c.input, "input", "what an .onnx of a net on pictures `takes`: pixels normalised by whoever runs it, or pixels from 0 to 255", inputNormalised, inputPixels)
	out.bool(&c.asJSON, "json", "tell what was written as JSON")
	return cmd
}

// exportedModel tells what was written.
type exportedModel struct {
	File    string   `json:"file"`
	Tensors int      `json:"tensors"`
	Bytes   int64    `json:"bytes"`
	Classes int      `json:"classes"`
	Outputs []string `json:"outputs,omitempty"` // of an .onnx
}

// String describes it for people.
func (e exportedModel) String() string {
	text := fmt.Sprintf("%s: %d tensors, %d classes, %d bytes", e.File, e.Tensors, e.Classes, e.Bytes)
	if len(e.Outputs) > 0 {
		text += ", outputs " + strings.Join(e.Outputs, " and ")
	}
	return text
}

func (c *exportCommand) export(ctx context.Context, p *program, path string) (err error) {
	ending := strings.ToLower(filepath.Ext(c.output))
	switch {
	case ending != ".onnx" && ending != ".safetensors" && ending != ".npz":
		return usagef("export: --output is %q, want the name of a file that ends in .onnx, .safetensors or .npz", c.output)
	case ending != ".onnx" && c.input != inputNormalised:
		return usagef("export: --input says what an .onnx takes; %s are weights", ending)
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
	if c.asJSON {
		return writeJSON(p.out, done)
	}
	_, err = fmt.Fprintln(p.out, done)
	return err
}

// write streams the file aside and puts it in its place when it is whole.
func (c *exportCommand) write(file, ending string, m *run.Model) (done exportedModel, err error) {
	net := m.Net()
	done = exportedModel{File: c.output, Classes: net.Config().Classes}
	f, err := durable.Create(c.output, 0o666)
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	buffered := bufio.NewWriterSize(f, 1<<20)
	switch ending {
	case ".onnx":
		done.Outputs = []string{export.Probabilities}
		if c.observed {
			done.Outputs = append(done.Outputs, export.Observed)
		}
		done.Tensors, err = export.ONNX(buffered, net, export.GraphOptions{Observed: c.observed, Pixels: c.input == inputPixels,
			Words: m.Vocabulary().Texts(), Version: run.ThisBuild().Version})
	case ".npz":
		done.Tensors, err = export.NPZ(buffered, net, c.observed)
	default:
		var meta map[string]string
		if meta, err = exportMetadata(file, c.observed); err == nil {
			done.Tensors, err = export.Safetensors(f, net, c.observed, meta)
		}
	}
	if err == nil {
		err = buffered.Flush()
	}
	if err == nil {
		done.Bytes, err = f.Seek(0, io.SeekCurrent)
	}
	if err == nil {
		err = f.Commit()
	}
	return done, err
}

// checkpointKey is where package train keeps what it knows of a checkpoint.
const checkpointKey = "nmn.checkpoint"

// exportMetadata makes the file a checkpoint, with which nmn predict and nmn eval do as with the one it is
// from; without the noise model it is one of a net that has none.
func exportMetadata(file string, noise bool) (map[string]string, error) {
	c, err := train.ReadCheckpoint(file)
	if err != nil {
		return nil, err
	}
	if !noise {
		c.Model.Noise = model.NoNoise
	}
	words := make([]string, len(c.Words))
	for i, w := range c.Words {
		words[i] = w.Text
	}
	meta := map[string]string{}
	for key, value := range map[string]any{checkpointKey: c, "classes": words} {
		text, err := json.Marshal(value)
		if err != nil {
			return nil, err
		}
		meta[key] = string(text)
	}
	return meta, nil
}

func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	y, err2 := os.Stat(b)
	return err == nil && err2 == nil && os.SameFile(x, y)
}
