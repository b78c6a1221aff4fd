package run

import (
	"cmp"
	"fmt"
	"os"
	"strings"

	"nmn/format/weights"
	"nmn/internal/setting"
	"nmn/model"
	"nmn/text"
	"nmn/train"
)

// startsThere looks whether the files that a run starts from are there and are what they should be, before anything
// that takes long.
func (c *Config) startsThere() error {
	settings := c.Settings()
	for _, p := range []struct{ key, file string }{
		{"net.backbone", c.Net.Backbone}, {"noise_rates", settings.RatesFile()},
	} {
		if p.file == "" {
			continue
		}
		if _, err := os.Stat(p.file); err != nil {
			return &setting.Error{Key: p.key, Reason: err}
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

// LoadWeights starts the classifier from a file. The last layer keeps its start unless the file is known to
// have the same classes: ImageNet has as many classes as the paper has words, but they are
// others.
func (s *Session) LoadWeights(net *model.Net, n *NetConfig, v *text.Vocabulary) (err error) {
	file, err := weights.Open(n.Weights)
	if err != nil {
		return fmt.Errorf("cannot open the weights: %w", err)
	}
	defer func() { err = cmp.Or(err, file.Close()) }()
	if n.WeightsChannels != "" {
		if err := file.SetBGR(n.WeightsChannels == ChannelsBGR); err != nil {
			return fmt.Errorf("weights %s: %w", n.Weights, err)
		}
	}
	own := false
	if c, err := train.ReadCheckpoint(n.Weights); err == nil {
		own = SameClasses(c, v) == nil
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
	s.Log.Info("weights taken", "file", n.Weights, "format", file.Format, "tensors", len(report.Taken), "kept_random",
		len(report.Missing), "unused", len(report.Unused))
	if s.weightsShown != nil {
		if *s.weightsShown {
			return nil
		}
		*s.weightsShown = true
	}
	if file.BGR && n.Arch == NetVGG16 && n.Pixels != PixelsRaw {
		s.Log.Warn("weights for BGR, as Caffe's, expect pixels from which the mean alone was subtracted: add `net.pixels` "+
			"raw",
			"file", n.Weights)
	}
	s.Tell(Message{Text: strings.TrimRight(WeightsTable(n.Weights, file, &report), "\n")})
	return nil
}
