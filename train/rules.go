package train

import (
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"nmn/model"
)

// noiseNames are the parameters of a noise model. Patterns may name them even if a net has none, so that one
// configuration serves both stages and all arms.
var noiseNames = [...]string{"nmn.weight", "nmn.bias", model.TransitionName}

// multipliers gives each parameter its learning-rate multiplier, 0 for frozen ones.
func multipliers(c Config, params []*model.Param) (map[*model.Param]float64, error) {
	if err := c.checkPatterns(params); err != nil {
		return nil, err
	}
	all := make(map[*model.Param]float64, len(params))
	below := layersBelow(params)
	for _, p := range params {
		all[p] = c.multiplier(p.Name)
		if c.LayerDecay > 0 {
			all[p] *= math.Pow(c.LayerDecay, float64(below[blockOf(p.Name)]))
		}
	}
	return all, nil
}

// layerOf returns the name of a parameter's layer.
func layerOf(name string) string {
	return strings.TrimSuffix(strings.TrimSuffix(name, ".weight"), ".bias")
}

// blockOf returns the name of the unit that counts as one layer for LayerDecay: a residual block such as
// backbone.layer3.0, else the layer itself.
func blockOf(name string) string {
	parts := strings.SplitN(name, ".", 4)
	if len(parts) == 4 && parts[0] == "backbone" && strings.HasPrefix(parts[1], "layer") {
		return strings.Join(parts[:3], ".")
	}
	return layerOf(name)
}

// layersBelow counts for each layer how far it is below the last layer of the classifier. The noise model is
// at the level of the last layer. Parameters come in their order from the input on.
func layersBelow(params []*model.Param) map[string]int {
	var layers []string
	for _, p := range params {
		layer := blockOf(p.Name)
		if layer != "nmn" && layer != model.TransitionName && (len(layers) == 0 || layers[len(layers)-1] != layer) {
			layers = append(layers, layer)
		}
	}
	below := make(map[string]int, len(layers))
	for i, layer := range layers {
		below[layer] = len(layers) - 1 - i
	}
	return below
}

// multiplier applies, in order, the multiplier of the noise model, the rules, and freezing.
func (c Config) multiplier(name string) float64 {
	m := 1.0
	switch name {
	case model.TransitionName: // is held
		return 0
	case noiseNames[0]:
		m = c.Noise.WeightMultiplier
	case noiseNames[1]:
		m = c.Noise.BiasMultiplier
	}
	for _, r := range c.LearningRates {
		if matches(r.Pattern, name) {
			m = r.Multiplier
		}
	}
	if c.Noise.Frozen && (name == noiseNames[0] || name == noiseNames[1]) {
		return 0
	}
	for _, pattern := range c.Freeze {
		if matches(pattern, name) {
			return 0
		}
	}
	return m
}

// noiseLearns reports whether any parameter of a noise model would be changed.
func (c Config) noiseLearns() bool {
	return c.multiplier(noiseNames[0]) != 0 || c.multiplier(noiseNames[1]) != 0
}

func (c Config) checkPatterns(params []*model.Param) error {
	used := func(pattern string) bool {
		for _, p := range params {
			if matches(pattern, p.Name) {
				return true
			}
		}
		return slices.ContainsFunc(noiseNames[:], func(name string) bool { return matches(pattern, name) })
	}
	unused := func(field, pattern string) error {
		return fmt.Errorf("training: %s %q matches no parameter; names run from %s to %s, nmn.weight and nmn.bias",
			field, pattern, params[0].Name, params[len(params)-1].Name)
	}
	for i, r := range c.LearningRates {
		if !used(r.Pattern) {
			return unused(fmt.Sprintf("learning_rates[%d]", i), r.Pattern)
		}
	}
	for i, pattern := range c.Freeze {
		if !used(pattern) {
			return unused(fmt.Sprintf("freeze[%d]", i), pattern)
		}
	}
	return nil
}

// matches is path.Match of a pattern that Validate has accepted.
func matches(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}
