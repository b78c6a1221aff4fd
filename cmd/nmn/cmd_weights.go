package main

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"nmn/internal/durable"
	"nmn/model/backbone"
	runweights "nmn/run/weights"
	"nmn/run/weights/pretrained"
	"nmn/train"
)

func newWeights(p *program) *cobra.Command {
	asJSON := false
	var about backbone.Options
	cmd := &cobra.Command{
		Use:   "weights [FILE|NAME|RUN]",
		Short: "List published weights and download them; show what a file of weights holds",
		Long: `Without an argument, list published weights that --backbone and --init take by name, with size,
licence and use; "nmn weights get NAME" downloads one.

With one, print the format of a file of weights (.pth, .safetensors, .npz, .caffemodel), and which of its
tensors are which layers of VGG16 or of a ResNet, as --init takes them; if they do not fit, why,
and what there is. For a vision transformer, print which one it is and what pictures it wants.
Of a run folder, the last checkpoint is shown. Only names, types and shapes are read, and nothing in a .pth is run.`,
		Example: `  nmn weights
  nmn weights get dinov2-small
  nmn weights VGG_ILSVRC_16_layers.caffemodel --json`,
		Args: arguments(p, cobra.MaximumNArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return listWeights(p, asJSON)
			}
			return showWeights(p, args[0], about, asJSON)
		},
	}
	cmd.AddCommand(newWeightsGet(p))
	r := under(cmd, "Pretrained net")
	r.int(&about.Size, "input-size", "height and width of a transformer's input in `pixels` (default that of the net)")
	pretrainedFlags(r, &about)
	under(cmd, "Output").bool(&asJSON, "json", "tell it as JSON, with every tensor")
	return cmd
}

func showWeights(p *program, path string, about backbone.Options, asJSON bool) error {
	if err := checkPretrained(&about); err != nil {
		return err
	}
	if last := filepath.Join(path, train.LastName); durable.Exists(last) { // a run folder
		path = last
	}
	path, err := pretrained.Find(path)
	if err != nil {
		return usageError{err}
	}
	file, err := runweights.Recognise(path, &about)
	if err != nil {
		return err
	}
	if asJSON {
		file.Misfit = withFlags(file.Misfit)
		return writeJSON(p.out, file)
	}
	_, err = fmt.Fprint(p.out, withFlags(file.Text("--json has all")))
	return err
}
