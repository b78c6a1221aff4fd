//go:build cuda

package train

import (
	"path/filepath"
	"testing"

	"nmn/format/safetensors"
	"nmn/internal/expect"
	"nmn/kernels"
	"nmn/kernels/tensor"
	"nmn/model"
)

// All blocks of a parameter pass through one buffer of the host, which the card may read as late as it likes.
func TestCUDA_LoadsWeightsOfManyBlocks(t *testing.T) {
	late(t, "all")
	const input, hidden, classes = 700, 900, 3 // three blocks
	made := func(device kernels.Backend) *model.Net {
		net, err := model.New(model.MLP(input, classes, []int{hidden}), device)
		expect.OK(t, err)
		t.Cleanup(func() { check(t, net.Close()) })
		return net
	}
	host := made(openCPU(t, 1))
	for n, p := range host.Params() {
		values := make([]float32, p.W.Len())
		for i := range values {
			values[i] = float32(i+1) / float32(n+3)
		}
		check(t, host.SetValues(p, values))
	}
	path := filepath.Join(t.TempDir(), "weights.safetensors")
	expect.OK(t, expect.ErrorOf(safetensors.WriteFile(path, nil, host.Weights())))
	file, err := safetensors.Open(path)
	expect.OK(t, err)
	defer file.Close()
	for _, precision := range []tensor.Precision{tensor.FP32, tensor.BF16} {
		net := made(cardIn(precision, false)(t))
		expect.OK(t, expect.ErrorOf(net.Load(file, nil)))
		sameWeights(t, weights(t, net), weights(t, host), "%s: weights differ from the file", precision)
	}
}
