package noise

import (
	"math"
	"testing"

	"nmn/kernels/tensor"
	"nmn/rng"
)

// stepInput is a batch drawn at random: bags with cells cells each.
type stepInput struct {
	bags, cells, classes       int
	logits, confidence, labels *tensor.Tensor
}

// drawStep draws logits of deviation 2, confidences of deviation 2 for each bag, and labels.
func drawStep(seed uint64, bags, cells, classes int) stepInput {
	stream := rng.New(seed)
	in := stepInput{bags: bags, cells: cells, classes: classes}
	in.logits = drawn(&stream, 2, bags, cells, 1, classes)
	in.confidence = drawn(&stream, 2, bags, 2, 2, classes)
	in.labels = drawn(&stream, 1, bags, classes)
	for i, v := range in.labels.Float32s() {
		in.labels.Float32s()[i] = 0
		if v > 0 {
			in.labels.Float32s()[i] = 1
		}
	}
	return in
}

func drawn(stream *rng.Stream, deviation float64, shape ...int) *tensor.Tensor {
	size, _ := tensor.Elements(shape)
	data := make([]float32, size)
	for i := range data {
		data[i] = float32(stream.Normal(0, deviation))
	}
	t, err := tensor.OfFloat32s(data, shape...)
	if err != nil {
		panic(err)
	}
	return t
}

// newOutput makes all destinations, filled with NaN: what a step leaves out shows.
func (in stepInput) newOutput(t testing.TB) StepOutput {
	n, k := in.bags, in.classes
	return StepOutput{
		Loss: floats(t, nil, n), DLogits: floats(t, nil, in.logits.Shape()...), DO: floats(t, nil, n, 2, 2, k),
		Prob: floats(t, nil, n, k), Observed: floats(t, nil, n, k), Posterior: floats(t, nil, n, k), BagLogit: floats(t, nil, n, k),
	}
}

// floats makes a tensor over data; nil data is filled with NaN.
func floats(t testing.TB, data []float32, shape ...int) *tensor.Tensor {
	t.Helper()
	if data == nil {
		size, _ := tensor.Elements(shape)
		data = make([]float32, size)
		for i := range data {
			data[i] = float32(math.NaN())
		}
	}
	x, err := tensor.OfFloat32s(data, shape...)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func ints(t testing.TB, data ...int32) *tensor.Tensor {
	t.Helper()
	x, err := tensor.OfInt32s(data, len(data))
	if err != nil {
		t.Fatal(err)
	}
	return x
}
