package run

import (
	"fmt"
	"log/slog"
	"os"
	"strings"

	"nmn/format/weights"
	"nmn/internal/setting"
	"nmn/labels"
	"nmn/loader/dataset"
	"nmn/model"
	runweights "nmn/run/weights"
	"nmn/run/weights/pretrained"
	"nmn/text"
	"nmn/train"
)

// findWeights takes the names of published weights for the files that were downloaded.
func (c *Config) findWeights() error {
	for _, p := range []struct {
		key  string
		file *string
	}{{"net.backbone", &c.Net.Backbone}, {"net.weights", &c.Net.Weights}} {
		if *p.file == "" {
			continue
		}
		path, err := pretrained.Find(*p.file)
		if err != nil {
			return &setting.Error{Key: p.key, Reason: err}
		}
		*p.file = path
	}
	return nil
}

// startsThere looks whether the files that a run starts from are there and are what they should be, before anything
// that takes long.
func (c *Config) startsThere() error {
	for _, p := range []struct{ key, file string }{
		{"net.backbone", c.Net.Backbone}, {"net.weights", c.Net.Weights}, {"noise_rates", c.Settings().RatesFile()},
	} {
		if p.file == "" {
			continue
		}
		if _, err := os.Stat(p.file); err != nil {
			return setting.Errorf(p.key, "`%s`: %w", p.key, err)
		}
	}
	if c.Net.Weights == "" {
		return nil
	}
	file, err := weights.Open(c.Net.Weights)
	if err != nil {
		return fmt.Errorf("cannot open the weights: %w", err)
	}
	return file.Close()
}

// WeightLoader starts nets from files of weights. The sessions of an experiment share it, since every net of an
// experiment loads the same file.
type WeightLoader struct {
	Log    *slog.Logger
	Notify func(Message)
	shown  bool // the summary of a file: once is enough
}

// Load starts the classifier from the file that a configuration names. The last layer keeps its start unless the file
// is known to have the same classes: ImageNet has as many classes as the paper has words, but they are others.
func (l *WeightLoader) Load(net *model.Net, n *NetConfig, v *text.Vocabulary) error {
	o := runweights.Options{Classifier: model.Unwanted}
	if n.WeightsChannels != "" {
		bgr := n.WeightsChannels == ChannelsBGR
		o.BGR = &bgr
	}
	if n.WeightsClassifier {
		o.Classifier = model.Required
	} else if c, err := train.ReadCheckpoint(n.Weights); err == nil && SameClasses(c, v) == nil {
		o.Classifier = model.Optional
	}
	loaded, err := runweights.Load(net, n.Weights, o)
	if err != nil {
		return err
	}
	l.Log.Info("weights taken", "file", n.Weights, "format", loaded.Format, "tensors", len(loaded.Report.Taken),
		"kept_random", len(loaded.Report.Missing), "unused", len(loaded.Report.Unused))
	if l.shown {
		return nil
	}
	l.shown = true
	if loaded.BGR && n.Arch == NetVGG16 && n.Pixels != PixelsRaw {
		l.Log.Warn("weights for BGR, as Caffe's, expect pixels from which the mean alone was subtracted: add `net.pixels` "+
			"raw", "file", n.Weights)
	}
	l.Notify(Message{Text: strings.TrimRight(loaded.Table, "\n")})
	return nil
}

// StartNoiseRates puts the rates of a file into the configuration of training.
func (c *Config) StartNoiseRates(d *dataset.Splits) error {
	path := c.Settings().RatesFile()
	if path == "" {
		return nil
	}
	file, err := labels.ReadFile(path, d.Train.Vocabulary, labels.Learnt)
	if err != nil {
		return err
	}
	rates := file.Rates()
	c.Train.Noise.Q01, c.Train.Noise.Q10 = float32s(rates.Q01), float32s(rates.Q10)
	return nil
}

func float32s(values []float64) []float32 {
	out := make([]float32, len(values))
	for i, v := range values {
		out[i] = float32(v)
	}
	return out
}
