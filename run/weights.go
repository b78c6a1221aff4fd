package run

import (
	"cmp"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"nmn/format/weights"
	"nmn/internal/setting"
	"nmn/kernels"
	"nmn/labels"
	"nmn/loader"
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

// nets makes the nets of arms for a configuration and its data.
type nets struct {
	config  Config
	data    *dataset.Splits
	backend kernels.Backend
	weights *WeightLoader
}

// open makes the net of an arm that learns by settings on a set. An arm of stage 2 starts from a checkpoint, whose
// digest open returns. If initial is set, the net takes the weights of the file in Net.Weights.
func (n *nets) open(arm train.Arm, settings train.Config, set *loader.Set, from string, initial bool) (net *model.Net,
	digest string, err error) {
	c := &n.config
	net, digest, err = arm.NewNet(c.model(set.Vocabulary.Len(), n.data.Width(), arm.Noise), n.backend, settings, set, from)
	if err == nil && initial {
		err = n.load(net)
	}
	return net, digest, err
}

// load takes the weights of the file in Net.Weights, if there is one. It closes a net that does not take them.
func (n *nets) load(net *model.Net) error {
	c := &n.config.Net
	if c.Weights == "" {
		return nil
	}
	err := n.weights.Load(net, c, n.data.Train.Vocabulary)
	if err != nil {
		return cmp.Or(err, net.Close())
	}
	return nil
}

// fresh makes the net of an arm without a checkpoint: its speed does not depend on its start. That of stage 1 takes the
// weights of the file in Net.Weights, so that a file that a run would refuse is refused now.
func (n *nets) fresh(arm train.Arm) (*model.Net, error) {
	initial := arm.Stage == 1
	arm.Stage = 1
	net, _, err := n.open(arm, n.config.Train, n.data.Train, "", initial)
	return net, err
}

// blank makes the net of an arm with weights of 0, for what follows from its shape: of a large net drawing weights
// takes longer than everything else. That of stage 1 reads the file in Net.Weights, so that a file that a run would
// refuse is refused now.
func (n *nets) blank(arm train.Arm) (*model.Net, error) {
	set := n.data.Train
	config, err := arm.Model(n.config.model(set.Vocabulary.Len(), n.data.Width(), arm.Noise))
	if err != nil {
		return nil, err
	}
	config.Standardised = set.Standard != nil
	net, err := model.New(config, n.backend)
	if err == nil && arm.Stage == 1 {
		err = n.load(net)
	}
	return net, err
}
