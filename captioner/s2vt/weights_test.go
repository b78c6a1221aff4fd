package s2vt

import (
	"bytes"
	"errors"
	"math"
	"testing"

	"nmn/format/safetensors"
	"nmn/internal/expect"
	"nmn/kernels/tensor"
)

// file writes tensors to memory and opens them.
func file(t *testing.T, tensors []safetensors.Tensor) *safetensors.File {
	t.Helper()
	var b bytes.Buffer
	expect.OK(t, safetensors.Write(&b, nil, tensors))
	f, err := safetensors.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
	expect.OK(t, err)
	return f
}

func TestWeights_ThereAndBack(t *testing.T) {
	c := small()
	c.Vocabulary, c.Hidden = 1<<16+1, 6 // out.w is written in two pieces
	n := newNet(t, openCPU(t, "", 2), c)
	other := newNet(t, openCPU(t, "", 1), c)
	expect.OK(t, other.Init(99))
	expect.OK(t, other.Load(file(t, n.Weights())))
	for i, p := range n.Params() {
		want := valuesOf(t, n, p.W)
		got := valuesOf(t, other, other.Params()[i].W)
		sameBits(t, p.Name, got, want)
	}
}

func TestLoad_RefusesBeforeAnythingIsSet(t *testing.T) {
	n := newNet(t, openCPU(t, "", 1), small())
	before := valuesOf(t, n, n.p.embedW.W)
	bigger := small()
	bigger.Words++
	other := newNet(t, openCPU(t, "", 1), bigger)
	expect.OK(t, other.Init(99))
	if err := n.Load(file(t, other.Weights())); !errors.Is(err, tensor.ErrShape) ||
		!contains(err.Error(), "word.w is 9×4 in the file and 9×3") {
		t.Errorf("words of another width: %v", err)
	}
	if err := n.Load(file(t, other.Weights()[:4])); !errors.Is(err, safetensors.ErrNotFound) {
		t.Errorf("parameters that are missing: %v", err)
	}
	after := valuesOf(t, n, n.p.embedW.W)
	sameBits(t, "embed.w", after, before)
}

func TestLoad_NumbersAreFinite(t *testing.T) {
	n := newNet(t, openCPU(t, "", 1), small())
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		values := valuesOf(t, n, n.p.outB.W)
		values[3] = float32(v)
		tensors := n.Weights()
		tensors[len(tensors)-1].Data = values
		if err := n.Load(file(t, tensors)); !errors.Is(err, safetensors.ErrCorrupt) ||
			!contains(err.Error(), "element 3 of out.b") {
			t.Errorf("%v: %v", v, err)
		}
	}
}
