package main

import (
	"cmp"
	"fmt"
	"strings"

	"nmn/format/weights"
	"nmn/kernels/tensor"
	"nmn/model"
	"nmn/text"
	"nmn/train"

	"github.com/spf13/pflag"
)

// initFlags declare what a classifier starts from.
func initFlags(r room, n *netConfig) {
	r.file(&n.Weights, "init", "`file` that the classifier starts from: .pth, .safetensors, .npz or .caffemodel of VGG16, such as torchvision's; also as --weights",
		"pth", "pt", "safetensors", "npz", "caffemodel")
	enum(r, &n.WeightsChannels, "init-channels", "`order` of a picture's channels in that file (default bgr of a .caffemodel, else rgb)", channelsRGB, channelsBGR)
	r.bool(&n.WeightsClassifier, "init-classifier", "take the last layer from that file too; without, it is taken from a model of nmn with the same words alone")
	r.set.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "weights" {
			name = "init"
		}
		return pflag.NormalizedName(name)
	})
}

// loadWeights starts the classifier from a file. The last layer keeps its start unless the file is known to
// have the same classes: those of ImageNet are as many as the words of the paper, and others.
func (s *session) loadWeights(net *model.Net, n *netConfig, v *text.Vocabulary) (err error) {
	file, err := weights.Open(n.Weights)
	if err != nil {
		return fmt.Errorf("cannot open the weights: %w", err)
	}
	defer func() { err = cmp.Or(err, file.Close()) }()
	if n.WeightsChannels != "" {
		if err := file.SetBGR(n.WeightsChannels == channelsBGR); err != nil {
			return fmt.Errorf("weights %s: %w", n.Weights, err)
		}
	}
	own := false
	if c, err := train.ReadCheckpoint(n.Weights); err == nil {
		own = sameClasses(c, v) == nil
	}
	report, err := net.LoadAs(file, func(q *model.Param) model.Need {
		switch {
		case !net.IsClassifier(q), n.WeightsClassifier:
			return model.Required
		case own:
			return model.Optional
		}
		return model.Unwanted
	})
	if err != nil {
		return fmt.Errorf("weights %s: %w", n.Weights, err)
	}
	s.log.Info("weights taken", "file", n.Weights, "format", file.Format, "tensors", len(report.Taken), "kept_random", len(report.Missing), "unused", len(report.Unused))
	if s.weightsShown {
		return nil
	}
	s.weightsShown = true
	if file.BGR && n.Arch == netVGG16 && n.Pixels != pixelsRaw {
		s.log.Warn("weights for BGR, as Caffe's, expect pixels from which the mean alone was subtracted: add --pixels raw", "file", n.Weights)
	}
	s.tell(message{text: strings.TrimRight(weightsTable(n.Weights, file, &report), "\n")})
	return nil
}

// weightsTable tells what was taken, a line for each layer.
func weightsTable(name string, file *weights.File, report *model.LoadReport) string {
	var b strings.Builder
	fmt.Fprintf(&b, "weights %s: %s, %d tensors", name, file.Format, len(file.Names()))
	if file.BGR {
		b.WriteString(", BGR turned into RGB")
	}
	b.WriteByte('\n')
	row := func(m model.Match, note string) {
		layer, isWeight := strings.CutSuffix(m.Param, ".weight")
		if !isWeight {
			return
		}
		_, layer, _ = strings.Cut(layer, ".")
		shape := "-"
		if m.Tensor != "" {
			shape = tensor.Format(m.Shape)
		}
		line := fmt.Sprintf("  %-8s %-24s %-14s %-5s%s", layer, strings.TrimSuffix(m.Tensor, ".weight"), shape, m.DType, note)
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	for _, m := range report.Taken {
		note := ""
		if as := tensor.Format(m.As); as != tensor.Format(m.Shape) {
			note = " as " + as
		}
		row(m, note)
	}
	for _, m := range report.Missing {
		note := " not taken: its classes are others, or unknown (--init-classifier); starts at random"
		if m.Tensor == "" {
			note = " not in the file: starts at random"
		}
		row(m, note)
	}
	if len(report.Unused) > 0 {
		const most = 6
		shown := strings.Join(report.Unused[:min(most, len(report.Unused))], ", ")
		if len(report.Unused) > most {
			shown += ", ..."
		}
		fmt.Fprintf(&b, "  %d tensors of no use here: %s\n", len(report.Unused), shown)
	}
	return b.String()
}
