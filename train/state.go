package train

import "nmn/model"

// StateBytes is the device memory that an optimizer keeps beside the parameters of a net that learn, and their
// gradients.
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
