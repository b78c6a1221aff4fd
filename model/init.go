package model

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"nmn/internal/rng"
)

// InitConfig configures the starting values of a network.
type InitConfig struct {
	Seed uint64
	// ClassifierDeviation is the standard deviation of the last layer's weights.
	ClassifierDeviation float64
	// ClassifierBias holds one log-odds for each class, or a single one for all.
	ClassifierBias []float32
	// NoiseDeviation is the standard deviation of U.
	NoiseDeviation float64
	// Q01 = p(z=0|y=1) and Q10 = p(z=1|y=0) at the start, for each class or a single one for all. They set
	// the noise model's bias.
	Q01, Q10 []float32
	// Transition is the matrix T of classes that exclude each other, K×K. Empty is the identity.
	Transition []float32
}

// PaperInit is the start of section 4 of the paper: fc8 from N(0, 0.001) with bias -6.58 (base rate
// .0014), and a noise model that flips with probability .036, the softmax of -6.58 and -9.87.
func PaperInit(seed uint64) InitConfig {
	flip := float32(1 / (1 + math.Exp(9.87-6.58)))
	return InitConfig{Seed: seed, ClassifierDeviation: .001, ClassifierBias: []float32{-6.58},
		NoiseDeviation: .001, Q01: []float32{flip}, Q10: []float32{flip}}
}

// Init draws all weights from normal distributions. Layers with a ReLU use He et al.'s deviation (less for
// nets on features). The last layer and the noise model use the configured deviations. Other biases start at
// 0. Each parameter has its own random stream, so that it does not depend on the others.
//
// A residual net has no batch normalisation to control its scale. It starts as in Zhang et al., "Fixup
// Initialization: Residual Learning Without Normalization" (2019): the last convolution of each block is 0,
// so that at first every block passes on its shortcut. The others of the block are drawn with He et al.'s
// deviation times L^(-1/(2m-2)), with L blocks in the net and m convolutions in a block. Stem and shortcuts
// use He et al.'s deviation.
func (n *Net) Init(c InitConfig) error {
	classifier, err := spread("classifier bias", c.ClassifierBias, n.config.Classes)
	if err != nil {
		return err
	}
	for _, p := range n.all {
		values := make([]float32, p.FileLen())
		stream := rng.New(rng.Derive(c.Seed, p.Name))
		switch {
		case p == n.noise.b && n.config.Exclusive:
			if err := transition(values, c.Transition, n.config.Classes); err != nil {
				return err
			}
		case p == n.noise.b:
			if err := noiseBias(values, c, n.config.Classes); err != nil {
				return err
			}
		case p == n.noise.w:
			stream.Normals(values, 0, c.NoiseDeviation)
		case p == n.classifier().w:
			stream.Normals(values, 0, c.ClassifierDeviation)
		case p == n.classifier().b:
			copy(values, classifier)
		case !p.Bias:
			stream.Normals(values, 0, n.hiddenDeviation(len(values)/p.W.Dim(0))*n.branchFactor(p))
		}
		if err := p.SetValues(n.backend, values); err != nil {
			return fmt.Errorf("model: cannot set %s: %w", p.Name, err)
		}
	}
	return nil
}

// hiddenDeviation is the deviation of the weights of a layer with a ReLU. He et al.'s deviation keeps the
// scale of pictures through many layers. The few layers of a net on features start smaller, as PyTorch's
// Linear does. With He et al.'s deviation they fit wrong labels before they rank well.
func (n *Net) hiddenDeviation(fanIn int) float64 {
	if n.config.Input > 0 {
		return math.Sqrt(1 / (3 * float64(fanIn)))
	}
	return math.Sqrt(2 / float64(fanIn))
}

// branchFactor is the factor on the deviation of a convolution in a residual block; 1 elsewhere.
func (n *Net) branchFactor(p *Param) float64 {
	if n.config.Residual == Plain {
		return 1
	}
	i := slices.IndexFunc(n.units, func(u *unit) bool { return u.w == p })
	switch {
	case i < 0 || !strings.HasPrefix(n.units[i].Name, "layer") || !n.units[i].ReLU: // head, stem or shortcut
		return 1
	case n.units[i].Shortcut > 0:
		return 0
	}
	blocks := 0
	for _, depth := range n.config.Depths {
		blocks += depth
	}
	if n.config.Residual == Bottleneck {
		return math.Pow(float64(blocks), -1./4)
	}
	return math.Pow(float64(blocks), -1./2)
}

// noiseBias writes O, 2×2×K, such that its softmax over the observed label gives the rates: the two
// entries of a column differ by the log-odds of the rate, half of it each.
func noiseBias(o []float32, c InitConfig, classes int) error {
	miss, err := spread("miss rate", c.Q01, classes)
	if err != nil {
		return err
	}
	wrong, err := spread("false rate", c.Q10, classes)
	if err != nil {
		return err
	}
	at := func(observed, true int) []float32 { return o[(observed*2+true)*classes:] }
	for k := range classes {
		q01, err := halfLogit("miss rate", k, miss[k])
		if err != nil {
			return err
		}
		q10, err := halfLogit("false rate", k, wrong[k])
		if err != nil {
			return err
		}
		at(0, 1)[k], at(1, 1)[k] = q01, -q01
		at(1, 0)[k], at(0, 0)[k] = q10, -q10
	}
	return nil
}

// leastTransition keeps the values of a transition matrix above 0.
const leastTransition = 1e-6

// transition writes a transition matrix whose rows sum to one.
func transition(to, from []float32, classes int) error {
	if len(from) != 0 && len(from) != classes*classes {
		return fmt.Errorf("model: a transition matrix of %d values for %d classes, want %d", len(from), classes,
			classes*classes)
	}
	for y := range classes {
		row, sum := to[y*classes:][:classes], 0.0
		for z := range row {
			q := float32(0)
			switch {
			case len(from) > 0:
				q = from[y*classes+z]
			case y == z:
				q = 1
			}
			if !(q >= 0 && q <= 1) {
				return fmt.Errorf("model: row %d, column %d of the transition matrix is %v, want a probability", y+1, z+1, q)
			}
			row[z] = max(q, leastTransition)
			sum += float64(row[z])
		}
		for z := range row {
			row[z] = float32(float64(row[z]) / sum)
		}
	}
	return nil
}

func halfLogit(name string, class int, rate float32) (float32, error) {
	if !(rate >= 0 && rate <= 1) {
		return 0, fmt.Errorf("model: %s of class %d is %v, want a probability", name, class, rate)
	}
	const least = 1e-4 // a rate of exactly 0 could never be learned away from
	r := min(max(float64(rate), least), 1-least)
	return float32(math.Log(r/(1-r)) / 2), nil
}

// spread repeats a single value for all classes.
func spread(name string, values []float32, classes int) ([]float32, error) {
	switch len(values) {
	case classes:
		return values, nil
	case 1:
		all := make([]float32, classes)
		for k := range all {
			all[k] = values[0]
		}
		return all, nil
	}
	return nil, fmt.Errorf("model: %d values for the %s of %d classes: give one for each class, or one for all",
		len(values), name, classes)
}
