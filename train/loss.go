package train

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"nmn/internal/setting"
	"nmn/kernels/noise"
	"nmn/model"
)

// Losses of the classifier alone.
const (
	crossEntropy = "bce"
	Asymmetric   = "asl"   // Ridnik et al., "Asymmetric Loss For Multi-Label Classification", 2021
	RejectLarge  = "ll-r"  // Kim et al., "Large Loss Matters in Weakly Supervised Multi-Label Classification", 2022
	CorrectLarge = "ll-ct" // the same: labels with large losses are not left out but taken as 1 in the step
)

// LossConfig configures the loss of the classifier without a noise model. The zero value is the
// cross-entropy. Fields of other losses than Kind must be 0. Start from DefaultLoss.
type LossConfig struct {
	Kind string `yaml:"kind" json:"kind" help:"<loss> of the classifier, for arms without a noise model" values:"bce,asl,ll-r,ll-ct"`

	// For asl: L = - z (1-p)^GammaPositive log p - (1-z) m^GammaNegative log(1-m), with m = max(p - Margin,
	// 0).
	GammaNegative float64 `yaml:"gamma_negative,omitempty" json:"gamma_negative,omitempty" help:"asl: focusing <exponent> for labels that are 0" range:"[0,100]"`
	GammaPositive float64 `yaml:"gamma_positive,omitempty" json:"gamma_positive,omitempty" help:"asl: focusing <exponent> for labels that are 1" range:"[0,100]"`
	Margin        float64 `yaml:"margin,omitempty" json:"margin,omitempty" help:"asl: labels that are 0 have no loss below this predicted <probability>" range:"[0,0.99]"`

	// Delta, of ll-r and ll-ct, is Delta_rel: the percentage of a batch's labels that each epoch of a stage
	// treats in addition to the epoch before, none in the first. The treated labels are the zero labels with
	// the largest losses. With Accumulate each batch of a step has its own.
	Delta float64 `yaml:"delta,omitempty" json:"delta,omitempty" help:"ll-r, ll-ct: <percentage> of labels that each epoch treats in addition to the epoch before" range:"[0,100]"`
}

// DefaultLoss is a loss with the parameters that arms of its name have. The asymmetric loss has GammaNegative 1.
// Ridnik et al.'s 4 for MS COCO is worse than the cross-entropy on noisy scenes. The Delta_rel of .2 is in the
// range of .1 to .5 that Kim et al. try.
func DefaultLoss(kind string) LossConfig {
	switch kind {
	case Asymmetric:
		return LossConfig{Kind: kind, GammaNegative: 1, Margin: .05}
	case RejectLarge, CorrectLarge:
		return LossConfig{Kind: kind, Delta: .2}
	case crossEntropy:
		return LossConfig{}
	}
	return LossConfig{Kind: kind}
}

// UnmarshalYAML reads the settings, or the name of a loss, which has the parameters of DefaultLoss.
func (l *LossConfig) UnmarshalYAML(unmarshal func(any) error) error {
	var kind string
	if unmarshal(&kind) != nil {
		type settings LossConfig
		return unmarshal((*settings)(l))
	}
	*l = DefaultLoss(kind) // Validate refuses a name that is no loss
	return nil
}

// IsZero reports whether the loss is the cross-entropy, which files do not mention.
func (l LossConfig) IsZero() bool { return l == LossConfig{} || l == LossConfig{Kind: crossEntropy} }

// Name returns the loss's name.
func (l LossConfig) Name() string {
	if l.Kind == "" {
		return crossEntropy
	}
	return l.Kind
}

func (l LossConfig) validate() error {
	if err := setting.Check("train.loss.", l); err != nil {
		return err
	}
	for _, f := range []struct {
		of    []string
		key   string
		value float64
	}{
		{[]string{Asymmetric}, "gamma_negative", l.GammaNegative},
		{[]string{Asymmetric}, "gamma_positive", l.GammaPositive},
		{[]string{Asymmetric}, "margin", l.Margin},
		{[]string{RejectLarge, CorrectLarge}, "delta", l.Delta},
	} {
		if f.value != 0 && !slices.Contains(f.of, l.Kind) {
			return setting.Errorf("train.loss."+f.key, "train.loss.%s is %v, which is for the loss %s, and train.loss.kind is "+
				"%s",
				f.key, f.value, strings.Join(f.of, " or "), l.Name())
		}
	}
	if l.Large() && l.Delta == 0 {
		return setting.Errorf("train.loss.delta", "train.loss.delta is 0, want more than 0")
	}
	if l == (LossConfig{Kind: Asymmetric}) {
		return errors.New("training: loss is asl with gamma_negative, gamma_positive and margin 0, which is bce; its " +
			"paper has 4, 0 and .05")
	}
	return nil
}

// check refuses a loss of the classifier alone for a net with a noise model.
func (l LossConfig) check(mode model.NoiseMode) error {
	if l.IsZero() || mode == model.NoNoise {
		return nil
	}
	return fmt.Errorf("training: loss %s is for the classifier alone, and the net has the noise model %s, which "+
		"learns by the likelihood of the labels: leave the loss at %s, or train an arm without a noise model "+
		"(stage1, baseline)", l.Kind, mode, crossEntropy)
}

// asymmetric returns the asymmetric loss for the noise step, zero for another.
func (l LossConfig) asymmetric() noise.AsymmetricLoss {
	return noise.AsymmetricLoss{
		Positive: float32(l.GammaPositive),
		Negative: float32(l.GammaNegative),
		Margin:   float32(l.Margin),
	}
}

// Large reports whether the loss treats the largest losses of a batch separately.
func (l LossConfig) Large() bool { return l.Kind == RejectLarge || l.Kind == CorrectLarge }

// largeLosses returns how the step treats large losses among this number of labels of a batch.
func (l LossConfig) largeLosses(epoch, labels int) model.LargeLosses {
	var treatment model.Treatment
	switch l.Kind {
	case RejectLarge:
		treatment = model.RejectLarge
	case CorrectLarge:
		treatment = model.CorrectLarge
	default:
		return model.LargeLosses{}
	}
	const rounding = 1e-9 // of the product: 16,000 labels at .2 per cent are 32
	share := min(l.Delta/100*float64(epoch-1), 1)
	return model.LargeLosses{Treatment: treatment, Count: int(math.Ceil(share*float64(labels) - rounding))}
}
