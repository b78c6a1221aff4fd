// Package export writes trained networks for other programs: their weights under torchvision's names as
// .safetensors and .npz, and the whole computation from input to probabilities as .onnx.
package export

import (
	"errors"
	"strings"

	"nmn/format/safetensors"
	"nmn/model"
)

// ErrNoNoise is returned if a noise model is requested and the network has none.
var ErrNoNoise = errors.New("export: the network has no noise model, so only p(y=1) and no p(z=1)")

// noisePrefix begins the names of the noise model's parameters.
const noisePrefix = "nmn."

// tensors are the weights of a net for a file, with or without the noise model's.
func tensors(net *model.Net, noise bool) ([]safetensors.Tensor, error) {
	if noise && net.Config().Noise == model.NoNoise {
		return nil, ErrNoNoise
	}
	var kept []safetensors.Tensor
	for _, t := range net.Weights() {
		if noise || !strings.HasPrefix(t.Name, noisePrefix) {
			kept = append(kept, t)
		}
	}
	return kept, nil
}
