package train

import (
	"context"
	"fmt"
	"math"
	"strings"

	"nmn/format/safetensors"
	"nmn/internal/rng"
	"nmn/loader"
	"nmn/model"
)

// start draws the weights of a net and sets its biases and the standard of its features.
func start(net *model.Net, c Config, data *loader.Set) error {
	if s := data.Standard; s != nil {
		if err := net.SetStandard(s.Mean, s.Scale); err != nil {
			return err
		}
	}
	classifier := []float32{float32(c.BaseRateLogit)}
	if c.ClassifierStart == labelMeans {
		var err error
		if classifier, err = labelLogits(data, net.Config()); err != nil {
			return err
		}
	}
	return net.Init(model.InitConfig{
		Seed: rng.Derive(c.Seed, "train/start"), ClassifierDeviation: c.ClassifierDeviation, ClassifierBias: classifier,
		NoiseDeviation: c.Noise.Deviation, Q01: c.Noise.Q01, Q10: c.Noise.Q10,
		Transition: c.Noise.Transition,
	})
}

// labelLogits gives each class the bias at which a net without input predicts the class's share m of positive
// labels: logit(m), log m if the
// classes exclude each other, and with MIL over S instances logit(1-(1-m)^(1/S)), because the noisy-or of S such
// instances is m. S is the mean number of cells in all frames of a bag. A class without positive bags counts
// as half a bag, and a class without negative bags as all but half a bag.
func labelLogits(data *loader.Set, c model.Config) ([]float32, error) {
	if data.Len() == 0 {
		return nil, fmt.Errorf("training: the set %q has no samples to take label means from", data.Name)
	}
	census, err := data.Census(context.Background())
	if err != nil {
		return nil, fmt.Errorf("training: %w", err)
	}
	if len(census.Positive) != c.Classes {
		return nil, fmt.Errorf("training: labels of %d classes in %q, the net has %d",
			len(census.Positive), data.Name, c.Classes)
	}
	instances := float64(c.Instances()) * float64(census.Frames) / float64(census.Bags)
	logits := make([]float32, c.Classes)
	for class, count := range census.Positive {
		n := max(float64(census.Known(class)), 1)
		p := min(max(float64(count), .5), n-.5) / n
		if c.MIL {
			p = -math.Expm1(math.Log1p(-p) / instances)
		}
		logits[class] = float32(math.Log(p) - math.Log1p(-p))
		if c.Exclusive {
			logits[class] = float32(math.Log(p))
		}
	}
	return logits, nil
}

// loadClassifier loads the classifier of a checkpoint, and returns the SHA-256 of its file. It leaves the
// noise model unchanged.
func loadClassifier(net *model.Net, path string, data *loader.Set) (digest string, err error) {
	err = frame.With(path, func(c *Checkpoint, file *safetensors.File) error {
		if err := c.sameWords(data.Vocabulary); err != nil {
			return err
		}
		if c.Model.MIL != net.Config().MIL {
			return fmt.Errorf("it was trained with mil %t, this arm has mil %t: %w",
				c.Model.MIL, net.Config().MIL, ErrOtherModel)
		}
		if c.Model.Exclusive != net.Config().Exclusive {
			return fmt.Errorf("it was trained with exclusive classes %t, this arm has exclusive classes %t: %w",
				c.Model.Exclusive, net.Config().Exclusive, ErrOtherModel)
		}
		_, err := net.LoadAs(file, func(p *model.Param) model.Need {
			if strings.HasPrefix(p.Name, "nmn.") {
				return model.Unwanted
			}
			return model.Required
		})
		if err != nil {
			return err
		}
		digest, err = file.Digest()
		return err
	})
	return digest, err
}
