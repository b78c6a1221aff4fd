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
		Short: "List, download and inspect pretrained weights",
		Long: `List published weights that --backbone and --init take by name; nmn weights get NAME downloads
one. With an argument, describe a file of weights or the last checkpoint of a run folder.`,
		Annotations: details(`The list has size, licence and use. The description of a file (.pth, .safetensors, .npz,
.caffemodel) has its format, and which tensors are which layers of VGG16 or of a ResNet, as
--init takes them. If they do not fit, it gives the reason. For a vision transformer it shows
which one it is and how it needs pictures. Only names, types and shapes are read; nothing in a
.pth file is run.`),
		Example: `  nmn weights
  nmn weights get dinov2-small
  nmn weights VGG_ILSVRC_16_layers.caffemodel --json`,
		Args: arguments(p, counted(0, 1)),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return listWeights(p, asJSON)
			}
			return showWeights(p, args[0], about, asJSON)
		},
	}
	cmd.AddCommand(newWeightsGet(p))
	r := under(cmd, "Pretrained net")
	r.int(&about.Size, "input-size", "set the input size of a transformer in `pixels`")
	pretrainedFlags(r, &about)
	under(cmd, "Output").bool(&asJSON, "json", "print JSON with every tensor")
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
