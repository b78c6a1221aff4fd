package run

import (
	"nmn/labels"
	"nmn/loader/dataset"
)

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
