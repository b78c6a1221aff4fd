package run

import (
	"nmn/format/weights"
	"nmn/model"
)

// archOfWeights takes the net from the file that it is to start from, where that is of a residual one. Whatever is wrong
// with the file is told when it is read.
func (c *Config) archOfWeights() {
	if c.Net.Weights == "" || c.Net.Arch == NetMLP {
		return
	}
	file, err := weights.Open(c.Net.Weights)
	if err != nil {
		return
	}
	if name := model.RecogniseResNet(file); name != "" {
		c.Net.Arch = NetName(name)
	}
	_ = file.Close() // it was only read
}
