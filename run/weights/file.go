package runweights

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"nmn/format/weights"
	"nmn/internal/setting"
	"nmn/internal/visible"
	"nmn/kernels/tensor"
	"nmn/model"
	"nmn/model/backbone"
	"nmn/model/vit"
	"nmn/train"
)

// File is what a file of weights holds. VGG16 is nil if Misfit says why it takes none of it.
type File struct {
	File        string            `json:"file"`
	Format      string            `json:"format"`
	Tensors     []weights.Tensor  `json:"tensors"`
	VGG16       *model.LoadReport `json:"vgg16,omitempty"`
	Misfit      string            `json:"misfit,omitempty"`
	Transformer *Transformer      `json:"transformer,omitempty"` // the vision transformer that it holds, if it does
	// ResNet is what a residual net takes of it, if it has the blocks of one.
	ResNet     *model.LoadReport `json:"resnet,omitempty"`
	Checkpoint bool              `json:"checkpoint,omitempty"` // says that it is one of nmn's own

	resNet           string // the residual net that it has the blocks of
	otherTransformer bool   // it has tensors of a vision transformer, and Misfit says why none is made of them
}

// Transformer is the vision transformer of a file, and which of the tensors make it.
type Transformer struct {
	vit.Config
	vit.Mapping
}

// Recognise reads names, types and shapes of the tensors of a file, and finds the net that takes them. about adds what
// the tensors of a transformer do not say; if it does not fit them, the error is a *setting.Error.
func Recognise(path string, about *backbone.Options) (f *File, err error) {
	file, err := weights.Open(path)
	if err != nil {
		return nil, fmt.Errorf("cannot open the weights: %w", err)
	}
	defer func() { err = cmp.Or(err, file.Close()) }()
	f = &File{File: path, Format: file.Format}
	f.Tensors = file.Tensors()
	_, checkpoint := train.ReadCheckpoint(path)
	f.Checkpoint = checkpoint == nil
	report, misfit, err := model.MatchVGG16(file)
	if f.VGG16 = f.match(report, misfit); err != nil {
		return nil, err
	}
	if err := f.matchTransformer(file, about); err != nil {
		return nil, err
	}
	if f.resNet = model.RecogniseResNet(file); f.resNet == "" {
		return f, nil
	}
	report, misfit, err = model.MatchResNet(f.resNet, file)
	f.ResNet = f.match(report, misfit)
	return f, err
}

// match is what a net takes of the file; nil if it takes nothing, for the reason that Misfit is then.
func (f *File) match(report model.LoadReport, misfit error) *model.LoadReport {
	if misfit != nil {
		f.Misfit = visible.OneLine(misfit.Error())
		return nil
	}
	f.Misfit = ""
	return &report
}

// matchTransformer finds which vision transformer a file holds, or why its tensors make none although such nets are
// known by them.
func (f *File) matchTransformer(file *weights.File, about *backbone.Options) error {
	config, mapping, err := vit.Recognise(file)
	switch {
	case err == nil:
		config = about.Transformer(config)
		if config.Heads > 0 { // else it remains to be said
			if err := config.Validate(); err != nil {
				return setting.Errorf("", "weights %s: %w", f.File, err)
			}
		}
		f.Transformer, f.Misfit = &Transformer{config, *mapping}, ""
	case !errors.Is(err, vit.ErrOther):
		f.Misfit, f.otherTransformer = strings.TrimPrefix(visible.OneLine(err.Error()), "vit: "), true
	}
	return nil
}

// Text shows the file to people: the layers of the net that takes it, or the first of its tensors. all says how the
// user sees the others.
func (f *File) Text(all string) string {
	switch {
	case f.VGG16 != nil:
		return table(f.File, f.Format, len(f.Tensors), f.VGG16)
	case f.Transformer != nil:
		return f.transformerTable()
	case f.ResNet != nil:
		return table(f.File, f.Format, len(f.Tensors), f.ResNet)
	}
	const most = 100
	var b strings.Builder
	if f.Checkpoint {
		fmt.Fprintf(&b, "weights %s: a checkpoint of nmn, %d tensors with the optimizer's; nmn export "+
			"writes the net's alone\n", visible.Line(f.File), len(f.Tensors))
	} else {
		not := "not the weights of " + cmp.Or(f.resNet, "VGG16")
		if f.otherTransformer {
			not = "a vision transformer that is not computed here"
		}
		fmt.Fprintf(&b, "weights %s: %s, %d tensors; %s: %s\n", visible.Line(f.File), f.Format, len(f.Tensors), not,
			visible.Line(f.Misfit))
	}
	for _, t := range f.Tensors[:min(most, len(f.Tensors))] {
		fmt.Fprintf(&b, "  %-40s %-5s %s\n", visible.Line(t.Name), t.DType, tensor.Format(t.Shape))
	}
	if more := len(f.Tensors) - most; more > 0 {
		fmt.Fprintf(&b, "  and %d more (%s)\n", more, all)
	}
	return b.String()
}
