package train

import (
	"slices"

	"nmn/model"
)

// Group are the parameters of a layer that learn alike.
type Group struct {
	Layer string // as rules name it, without .weight or .bias: backbone.conv1_1, head.fc8, nmn
	// Parameters are weight, bias, or both if they learn alike.
	Parameters   []string
	Numbers      int     // in all of them
	Multiplier   float64 // of the learning rate; 0 if frozen
	LearningRate float64 // the learning rate of the schedule's height times the multiplier
	Decay        float64 // weight decay; of the weights if biases do not decay
}

// Groups lists how the parameters of a net learn, layer by layer from the input on.
func Groups(c Config, params []*model.Param) ([]Group, error) {
	factors, err := multipliers(c, params)
	if err != nil {
		return nil, err
	}
	var all []Group
	for _, p := range params {
		g := Group{Layer: layerOf(p.Name), Numbers: p.FileLen(), Multiplier: factors[p]}
		g.Parameters = []string{p.Name[min(len(g.Layer)+1, len(p.Name)):]}
		g.LearningRate = c.LearningRate * g.Multiplier
		if g.Multiplier > 0 && (c.DecayBiases || !p.Bias) {
			g.Decay = c.WeightDecay
		}
		i := slices.IndexFunc(all, func(o Group) bool {
			return o.Layer == g.Layer && o.Multiplier == g.Multiplier
		})
		if i < 0 {
			all = append(all, g)
			continue
		}
		same := &all[i]
		same.Parameters, same.Numbers = append(same.Parameters, g.Parameters...), same.Numbers+g.Numbers
		same.Decay = max(same.Decay, g.Decay)
	}
	return all, nil
}
