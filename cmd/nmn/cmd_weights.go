package main

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"nmn/format/weights"
	"nmn/internal/durable"
	"nmn/internal/visible"
	"nmn/kernels/tensor"
	"nmn/model"
	"nmn/model/backbone"
	"nmn/run"
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
		RunE: func(_ *cobra.Command, args []string) error { return tellWeights(p, args[0], about, asJSON) },
	}
	r := under(cmd, "Pretrained net")
	r.int(&about.Size, "input-size", "height and width of a transformer's input in `pixels` (default that of the net)")
	pretrainedFlags(r, &about)
	under(cmd, "Output").bool(&asJSON, "json", "tell it as JSON, with every tensor")
	return cmd
}

// weightsFile is what a file holds. VGG16 is nil where Misfit says why it takes none of it.
type weightsFile struct {
	File    string            `json:"file"`
	Format  string            `json:"format"`
	BGR     bool              `json:"bgr"` // pictures go in as blue, green, red
	Tensors []weights.Tensor  `json:"tensors"`
	VGG16   *model.LoadReport `json:"vgg16,omitempty"`
	Misfit  string            `json:"misfit,omitempty"`
	// Transformer is the vision transformer that it holds, if it does.
	Transformer *transformerFile `json:"transformer,omitempty"`
	// ResNet is what a residual net takes of it, where it is of one.
	ResNet *model.LoadReport `json:"resnet,omitempty"`
	// Checkpoint says that it is one of nmn's own.
	Checkpoint bool `json:"checkpoint,omitempty"`

	resNet           string // the residual net that it has the blocks of
	otherTransformer bool   // it has tensors of a vision transformer, and Misfit says why none is made of them
}

func tellWeights(p *program, path string, about backbone.Options, asJSON bool) (err error) {
	if err := checkPretrained(&about); err != nil {
		return err
	}
	if last := filepath.Join(path, train.LastName); durable.Exists(last) { // a run folder
		path = last
	}
	file, err := weights.Open(path)
	if err != nil {
		return fmt.Errorf("cannot open the weights: %w", err)
	}
	defer func() { err = cmp.Or(err, file.Close()) }()
	told := weightsFile{File: path, Format: file.Format, BGR: file.BGR}
	if told.Tensors, err = file.Tensors(); err != nil {
		return err
	}
	_, checkpoint := train.ReadCheckpoint(path)
	told.Checkpoint = checkpoint == nil
	report, misfit, err := model.MatchVGG16(file)
	switch {
	case err != nil:
		return err
	case misfit != nil:
		told.Misfit = oneLine(misfit)
	default:
		told.VGG16 = &report
	}
	if err := told.matchTransformer(file, about); err != nil {
		return err
	}
	if err := told.matchResNet(file); err != nil {
		return err
	}
	if asJSON {
		return writeJSON(p.out, told)
	}
	_, err = fmt.Fprint(p.out, told.text(file))
	return err
}

// text shows it to people: the layers, or the first of the tensors where they are none of VGG16.
func (w *weightsFile) text(file *weights.File) string {
	if w.VGG16 != nil {
		return withFlags(run.WeightsTable(w.File, file, w.VGG16))
	}
	if w.Transformer != nil {
		return withFlags(run.TransformerTable(w.File, file, w.Transformer.Config, &w.Transformer.Mapping))
	}
	if w.ResNet != nil {
		return withFlags(run.WeightsTable(w.File, file, w.ResNet))
	}
	const most = 100
	var b strings.Builder
	if w.Checkpoint {
		fmt.Fprintf(&b, "weights %s: a checkpoint of nmn, %d tensors with those of the optimizer; nmn export "+
			"writes the net's alone\n", visible.Line(w.File), len(w.Tensors))
	} else {
		not := "not those of " + cmp.Or(w.resNet, "VGG16")
		if w.otherTransformer {
			not = "a vision transformer that is not computed here"
		}
		fmt.Fprintf(&b, "weights %s: %s, %d tensors; %s: %s\n", visible.Line(w.File), w.Format, len(w.Tensors), not,
			visible.Line(w.Misfit))
	}
	for _, t := range w.Tensors[:min(most, len(w.Tensors))] {
		fmt.Fprintf(&b, "  %-40s %-5s %s\n", visible.Line(t.Name), t.DType, tensor.Format(t.Shape))
	}
	if more := len(w.Tensors) - most; more > 0 {
		fmt.Fprintf(&b, "  and %d more (--json has all)\n", more)
	}
	return b.String()
}
