package main

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"nmn/internal/durable"
	"nmn/model/backbone"
	runweights "nmn/run/weights"
	"nmn/train"
)

func newWeights(p *program) *cobra.Command {
	asJSON := false
	var about backbone.Options
	cmd := &cobra.Command{
		Use:   "weights FILE|RUN",
		Short: "Tell what a file of weights holds, and which network takes it",
		Long: `Tell the format of a file of weights (.pth, .safetensors, .npz, .caffemodel), and which of its
tensors are which layers of VGG16 or of a ResNet, as --init takes them; where they do not fit, why,
and what there is. Of a vision transformer it is told which one, and what pictures it wants.
Of a run folder it is the last checkpoint. Names, types and shapes alone are read, and nothing in a .pth is run.`,
		Example: `  nmn weights vgg16-397923af.pth
  nmn weights VGG_ILSVRC_16_layers.caffemodel --json`,
		Args: arguments(p, cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error { return showWeights(p, args[0], about, asJSON) },
	}
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
