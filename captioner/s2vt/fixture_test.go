package s2vt

import (
	"slices"
	"testing"

	"nmn/internal/expect"
	"nmn/kernels"
	"nmn/kernels/conv"
	"nmn/kernels/tensor"
	"nmn/tools/conform"
)

// golden makes the net and the batch of the fixture.
func golden(t *testing.T, device kernels.Backend, f *conform.Fixture) (*Net, *Batch) {
	t.Helper()
	at := func(name string, axis int) int { return f.Input("params." + name).Shape[axis] }
	x := f.Input("features")
	n := newNet(t, device, Config{Frames: x.Shape[1], Features: x.Shape[2], Vocabulary: at("out.w", 0),
		Embedding: at("embed.w", 0), Words: at("word.w", 1), Hidden: at("lstm1.Wh", 1)})
	for _, p := range n.Params() {
		expect.OK(t, n.SetValues(p, goldenValues(f, "inputs.params", p.Name, n.Config()).Float32s()))
	}
	b, size := &Batch{}, x.Shape[1]*x.Shape[2]
	captions, lengths, most := f.Input("captions").Int32s(), f.Input("lengths_with_eos").Int32s(),
		f.Input("captions").Shape[1]
	for i, length := range lengths {
		b.Features = append(b.Features, x.Float32s()[i*size:(i+1)*size])
		b.Captions = append(b.Captions, captions[i*most:i*most+int(length)-1])
	}
	return n, b
}

// goldenValues returns the values of a parameter. The fixture has lstm2.Wx in one piece.
func goldenValues(f *conform.Fixture, group, name string, c Config) conform.Array {
	from, to := 0, c.Hidden
	switch name {
	default:
		return f.Parameter(group, name)
	case "lstm2.Wx.h1":
	case "lstm2.Wx.word":
		from, to = c.Hidden, c.Hidden+c.Words
	}
	whole := f.Parameter(group, "lstm2.Wx")
	part := whole
	part.Shape, part.Data = []int{whole.Shape[0], to - from}, nil
	for row := range slices.Chunk(whole.Data, c.Hidden+c.Words) {
		part.Data = append(part.Data, row[from:to]...)
	}
	return part
}

func TestGolden_LossLogitsAndAllGradients(t *testing.T) {
	f := conform.LoadFixture(t, "s2vt")
	eachDevice(t, func(t *testing.T, device kernels.Backend) {
		n, b := golden(t, device, f)
		loss := run(t, n, b, 0)
		clips := float32(len(b.Captions)) // the fixture's loss is their sum
		f.Expected("loss").Check(t, []float32{float32(loss) * clips})
		scaled := func(values []float32) []float32 {
			for i := range values {
				values[i] *= clips
			}
			return values
		}
		for name, g := range gradients(t, n) {
			goldenValues(f, "expected.grads", name, n.Config()).Check(t, scaled(g))
		}
		f.Expected("grads.features").Check(t, scaled(slices.Concat(inputGradient(t, n, b)...)))
		checkWords(t, n, b, f)
	})
}

// checkWords compares the results for each word. The fixture also has logits after the end of a caption,
// which are not used.
func checkWords(t *testing.T, n *Net, b *Batch, f *conform.Fixture) {
	t.Helper()
	p, err := n.planFor(b)
	expect.OK(t, err)
	losses, logits := p.host.results[ahead:], allLogits(t, n, p)
	v, nll, want := n.config.Vocabulary, f.Expected("nll_per_word"), f.Expected("logits")
	most := nll.Shape[1]
	var gotLoss, gotLogits []float32
	var wantLogits []float64
	for i, words := range b.Captions {
		for l := range most {
			if l > len(words) {
				gotLoss = append(gotLoss, 0)
				continue
			}
			m := int(p.host.row[l*p.clips+i])
			gotLoss, gotLogits = append(gotLoss, losses[m]), append(gotLogits, logits[m*v:(m+1)*v]...)
			wantLogits = append(wantLogits, want.Data[(i*most+l)*v:(i*most+l+1)*v]...)
		}
	}
	nll.Check(t, gotLoss)
	want.Shape, want.Data = []int{len(wantLogits) / v, v}, wantLogits
	want.Check(t, gotLogits)
}

// allLogits computes them from the states that a step has left.
func allLogits(t *testing.T, n *Net, p *plan) []float32 {
	t.Helper()
	x, err := p.outputs.Reshape(p.words, 1, 1, n.config.Hidden)
	expect.OK(t, err)
	y, err := n.backend.Alloc(tensor.Float32, p.words, 1, 1, n.config.Vocabulary)
	expect.OK(t, err)
	expect.OK(t, n.backend.Conv(y, x, n.p.outW.filter, n.p.outB.W, conv.Params{}))
	return valuesOf(t, n, y)
}

func TestGolden_GreedyWords(t *testing.T) {
	f := conform.LoadFixture(t, "s2vt")
	most := int(f.Meta["max_decode"].(float64))
	eachDevice(t, func(t *testing.T, device kernels.Backend) {
		n, b := golden(t, device, f)
		captions, err := n.Beam(b.Features, BeamOptions{Width: 1, MaxLength: most})
		expect.OK(t, err)
		for i, want := range f.Rows("expected.greedy_tokens") {
			got := captions[i].Words
			if captions[i].Ended {
				got = append(slices.Clone(got), EOS)
			}
			if len(got) != len(want) {
				t.Fatalf("clip %d: %v, want %v", i, got, want)
			}
			for l, word := range want {
				if got[l] != int32(word) {
					t.Errorf("clip %d: %v, want %v", i, got, want)
					break
				}
			}
		}
	})
}
