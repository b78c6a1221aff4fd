package train

import "nmn/model"

// StateBytes returns the device memory that an optimizer needs in addition to the learning parameters of a
// net and their gradients.
func (c Config) StateBytes(net *model.Net) (bytes int) {
	arrays := 1
	if c.Optimizer != SGD {
		arrays = 2
	}
	if c.EMA > 0 {
		arrays++
	}
	for _, p := range net.Params() {
		if c.multiplier(p.Name) > 0 {
			bytes += arrays * p.W.Bytes()
		}
	}
	return bytes
}
