package conform

import (
	"fmt"
	"math"

	"nmn/kernels"
	"nmn/kernels/tensor"
	"nmn/tools/ref"
)

// someWords draws m words of a vocabulary. Some are none, and many are equal.
func (v *values) someWords(m, vocabulary int) []int32 {
	words := make([]int32, m)
	for i := range words {
		switch v.stream.Intn(4) {
		case 0:
			words[i] = -1 - int32(v.stream.Intn(3))
		case 1:
			words[i] = int32(vocabulary - 1)
		default:
			words[i] = int32(v.stream.Intn(vocabulary))
		}
	}
	return words
}

func embedCases() []Case {
	var list []Case
	for _, shape := range []ref.Entropy{{M: 1, V: 1, D: 1}, {M: 5, V: 3, D: 7}, {M: 33, V: 9, D: 16},
		{M: 64, V: 40, D: 31}, {M: 100, V: 1000, D: 12}} {
		list = append(list, embedCase(shape, false), embedGradCase(shape, false))
	}
	for _, paper := range []ref.Entropy{{M: 320, V: 23647, D: 300}, {M: 320, V: 3000, D: 1200}} {
		list = append(list, embedCase(paper, true), embedGradCase(paper, true))
	}
	for op, run := range map[string]refusal{
		"Embed":     func(k kernels.Backend, t []*tensor.Tensor) error { return k.Embed(t[0], t[1], t[2]) },
		"EmbedGrad": func(k kernels.Backend, t []*tensor.Tensor) error { return k.EmbedGrad(t[1], t[0], t[2]) },
	} {
		list = append(list, embedRefusals(op, run)...)
	}
	return list
}

func embedCase(e ref.Entropy, large bool) Case {
	return Case{Op: "Embed", Name: named("m=%d,v=%d,d=%d", e.M, e.V, e.D), Large: large, build: func(r *values) *call {
		table, words := input("table", r.normal(e.V*e.D), e.V, e.D), ints("words", r.someWords(e.M, e.V), e.M)
		y := output("y", ref.Embed(wide(table.float32s), words.int32s, e.D), exact, e.M, e.D)
		return &call{operands: []*operand{y, table, words}, run: func(k kernels.Backend) error {
			return k.Embed(y.t, table.t, words.t)
		}}
	}}
}

func embedGradCase(e ref.Entropy, large bool) Case {
	return Case{Op: "EmbedGrad", Name: named("m=%d,v=%d,d=%d", e.M, e.V, e.D), Large: large, build: func(r *values) *call {
		dy, words := input("dy", r.normal(e.M*e.D), e.M, e.D), ints("words", r.someWords(e.M, e.V), e.M)
		dtable := output("dtable", ref.EmbedGrad(wide(dy.float32s), words.int32s, e.V, e.D), sums(e.M), e.V, e.D)
		if !large {
			table := make([]float64, e.V*e.D)
			dtable.numeric = differences(table, wide(dy.float32s), func() []float64 {
				return ref.Embed(table, words.int32s, e.D)
			})
		}
		return &call{operands: []*operand{dtable, dy, words}, run: func(k kernels.Backend) error {
			return k.EmbedGrad(dtable.t, dy.t, words.t)
		}}
	}}
}

func embedRefusals(op string, run refusal) []Case {
	var list []Case
	for _, w := range []struct {
		name        string
		rows, table []int
		words       []int32
	}{
		{"width", []int{3, 4}, []int{5, 6}, []int32{0, 1, 2}}, {"rows", []int{3, 4}, []int{5, 4}, []int32{0, 1}},
		{"rank", []int{12}, []int{5, 4}, make([]int32, 12)},
		{"word", []int{3, 4}, []int{5, 4}, []int32{0, 5, 2}},
	} {
		c := refuse(op, w.name, run, blank(w.rows...), blank(w.table...), ints("words", w.words, len(w.words)))
		c.Values = w.name == "word"
		list = append(list, c)
	}
	return append(list, refuse(op, "word_type", run, blank(3, 4), blank(5, 4), blank(3)))
}

// entropies have vocabularies on both sides of tiles and blocks, rows on both sides of vectors, and few words
// as well as many.
var entropies = []ref.Entropy{
	{M: 1, V: 1, D: 1}, {M: 3, V: 2, D: 5}, {M: 2, V: 31, D: 3}, {M: 16, V: 32, D: 16}, {M: 17, V: 33, D: 31},
	{M: 31, V: 95, D: 32},
	{M: 32, V: 96, D: 33}, {M: 33, V: 97, D: 64}, {M: 70, V: 769, D: 17}, {M: 5, V: 3001, D: 8}, {M: 150, V: 65, D: 4},
}

func entropyCases() []Case {
	var list []Case
	for i, e := range entropies {
		list = append(list, entropyCase(e, i%3 != 2, 1, false))
	}
	for _, size := range []float32{100, 1e4} { // probabilities that are 0 and 1
		list = append(list, entropyCase(ref.Entropy{M: 9, V: 50, D: 6}, true, size, false))
	}
	paper := ref.Entropy{M: 3, V: 23647, D: 700}
	list = append(list, entropyCase(paper, true, 1, true), withoutTargets(), withoutRows(), maskedNaN())
	for _, shape := range [][]int{{1, 1}, {3, 5}, {2, 63}, {4, 64}, {3, 65}, {2, 1030}} {
		list = append(list, logSoftmaxCase(shape, 1, false), logSoftmaxCase(shape, 1e4, false))
	}
	list = append(list, logSoftmaxCase([]int{32, 23647}, 3, true))
	for _, n := range lengths {
		list = append(list, addCase(n))
	}
	return append(list, entropyRefusals()...)
}

// entropyOf draws a softmax with logits of about this size. Some targets are none.
type entropyOf struct {
	ref.Entropy
	h, w, b []float32
	targets []int32
	size    float32
}

func (v *values) drawEntropy(e ref.Entropy, size float32) entropyOf {
	s := entropyOf{Entropy: e, h: v.normal(e.M * e.D), w: v.normal(e.V * e.D), b: v.normal(e.V), targets: v.someWords(e.M,
		e.V), size: size}
	s.targets[0] = int32(v.stream.Intn(e.V)) // one at least
	for i := range s.w {
		s.w[i] *= size / float32(math.Sqrt(float64(e.D)))
	}
	return s
}

// call is CrossEntropy on these operands, with or without gradients.
func (s entropyOf) call(gradients, slopes bool) *call {
	const scale = .3
	wideH, wideW, wideB := wide(s.h), wide(s.w), wide(s.b)
	losses := func() []float64 { return s.Losses(wideH, wideW, wideB, s.targets) }
	h, w, b, targets := input("h", s.h, s.M, s.D), input("w", s.w, s.V, s.D), input("b", s.b, s.V),
		ints("targets", s.targets, s.M)
	loss := output("loss", losses(), sums(s.D), s.M)
	dh, dw, db := none(), none(), none()
	if gradients {
		wantH, wantW, wantB := s.Gradients(wideH, wideW, wideB, s.targets, scale)
		products := s.D * int(s.size*s.size) // an error of a logit, as large as it is, is one of the probability
		dh, dw, db = output("dh", wantH, sums(products+s.V), s.M, s.D), output("dw", wantW, sums(products+s.M), s.V, s.D),
			output("db", wantB, sums(products+s.M), s.V)
		if slopes {
			dy := scaled(ones(s.M), scale)
			dh.numeric, dw.numeric, db.numeric = differences(wideH, dy, losses), differences(wideW, dy, losses),
				differences(wideB, dy, losses)
		}
	}
	return &call{
		operands: []*operand{loss, dh, dw, db, h, w, b, targets}, flops: 6 * float64(s.M) * float64(s.V*s.D),
		run: func(k kernels.Backend) error {
			return k.CrossEntropy(loss.t, dh.t, dw.t, db.t, h.t, w.t, b.t, targets.t, scale)
		},
	}
}

func entropyCase(e ref.Entropy, gradients bool, size float32, large bool) Case {
	name := named("m=%d,v=%d,d=%d,gradients=%v,size=%d", e.M, e.V, e.D, gradients, int(size))
	return Case{Op: "CrossEntropy", Name: name, Large: large, build: func(r *values) *call {
		return r.drawEntropy(e, size).call(gradients, !large && size == 1 && e.V < 100)
	}}
}

func withoutTargets() Case {
	return Case{Op: "CrossEntropy", Name: "targets=none", build: func(r *values) *call {
		s := r.drawEntropy(ref.Entropy{M: 4, V: 40, D: 5}, 1)
		for m := range s.targets {
			s.targets[m] = -1
		}
		return s.call(true, false)
	}}
}

// withoutRows has weights whose gradients are 0 all the same.
func withoutRows() Case {
	return Case{Op: "CrossEntropy", Name: "rows=none", build: func(r *values) *call {
		e := ref.Entropy{M: 0, V: 40, D: 5}
		return entropyOf{Entropy: e, h: []float32{}, w: r.normal(e.V * e.D), b: r.normal(e.V), targets: []int32{},
			size: 1}.call(true, false)
	}}
}

// maskedNaN has rows without a target that hold non-finite numbers.
func maskedNaN() Case {
	return Case{Op: "CrossEntropy", Name: "masked=nan", build: func(r *values) *call {
		s := r.drawEntropy(ref.Entropy{M: 20, V: 40, D: 5}, 1)
		for i := range s.h {
			if m := i / s.D; m%3 == 1 {
				s.targets[m], s.h[i] = -1, float32(math.NaN())
			} else if m%7 == 5 {
				s.targets[m], s.h[i] = -1, float32(math.Inf(1))
			}
		}
		return s.call(true, false)
	}}
}

func logSoftmaxCase(shape []int, size float32, large bool) Case {
	return Case{Op: "LogSoftmax", Name: named("shape=%s,size=%d", dimensions(shape), int(size)), Large: large,
		build: func(r *values) *call {
			logits := r.normal(shape[0] * shape[1])
			for i := range logits {
				logits[i] *= size
			}
			x := output("x", ref.LogSoftmax(wide(logits), shape[1]), pointwise(1e-6, 2e-6), shape...)
			x.float32s = logits
			return &call{operands: []*operand{x}, run: func(k kernels.Backend) error { return k.LogSoftmax(x.t) }}
		}}
}

func addCase(n int) Case {
	return Case{Op: "Add", Name: fmt.Sprintf("l=%d", n), build: func(r *values) *call {
		src, before := input("src", r.normal(n), n), r.normal(n)
		dst := output("dst", nil, pointwise(1e-7, 0), n)
		dst.float32s, dst.want = before, sum(wide(before), wide(src.float32s))
		return &call{operands: []*operand{dst, src}, run: func(k kernels.Backend) error { return k.Add(dst.t, src.t) }}
	}}
}

func entropyRefusals() []Case {
	run := func(k kernels.Backend, t []*tensor.Tensor) error {
		return k.CrossEntropy(t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7], 1)
	}
	fits := []namedShape{{"loss", []int{3}}, {"dh", []int{3, 4}}, {"dw", []int{5, 4}}, {"db", []int{5}},
		{"h", []int{3, 4}}, {"w", []int{5, 4}}, {"b", []int{5}}}
	refused := func(name string, wrong namedShape, targets ...int32) Case {
		var operands []*operand
		for _, o := range fits {
			switch {
			case o.name != wrong.name:
				operands = append(operands, blank(o.shape...))
			case wrong.shape == nil:
				operands = append(operands, none())
			default:
				operands = append(operands, blank(wrong.shape...))
			}
		}
		return refuse("CrossEntropy", name, run, append(operands, ints("targets", targets, len(targets)))...)
	}
	var list []Case
	for _, wrong := range []namedShape{
		{"loss", []int{4}}, {"dh", []int{4, 3}}, {"dw", []int{4, 5}}, {"db", []int{3}}, {"h", []int{3, 5}}, {"w", []int{20}},
		{"b", []int{4}},
	} {
		list = append(list, refused(wrong.name, wrong, 0, 1, 2))
	}
	beyond := refused("word", namedShape{}, 0, 1, 5)
	beyond.Values = true
	return append(list, beyond, refused("targets", namedShape{}, 0, 1), refused("gradients_in_part",
		namedShape{name: "dw"}, 0, 1, 2),
		refusePair("Add", func(k kernels.Backend, t []*tensor.Tensor) error { return k.Add(t[0], t[1]) }),
		refuse("LogSoftmax", "rank", func(k kernels.Backend, t []*tensor.Tensor) error { return k.LogSoftmax(t[0]) },
			blank(2, 3, 4)))
}
