package eval

import "fmt"

// PlugInThresholds is PlugInThreshold of each class on its own, which maximises macro F1. A class has few
// probabilities, so its threshold is less certain than the threshold of all classes together.
func PlugInThresholds(scores []float32, bags, classes int, logits bool) ([]float64, error) {
	if err := checkSize("plug-in thresholds", len(scores), bags, classes); err != nil {
		return nil, err
	}
	out, column := make([]float64, classes), make([]float32, bags)
	for c := range out {
		for i := range column {
			column[i] = scores[i*classes+c]
		}
		var err error
		if out[c], err = PlugInThreshold(column, logits); err != nil {
			return nil, fmt.Errorf("class %d: %w", c+1, err)
		}
	}
	return out, nil
}
