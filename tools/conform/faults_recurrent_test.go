package conform

import (
	"math"
	"slices"

	"nmn/kernels"
	"nmn/kernels/tensor"
)

// sequenceFaults are the faults of package recurrent.
var sequenceFaults = []fault{
	{"forgets the first state", "LSTM", "element", func(b kernels.Backend, h, c, gates, wh, _, c0 array) error {
		return b.LSTM(h, c, gates, wh, nil, c0)
	}},
	{"takes the gates in another order", "LSTM", "element", func(b kernels.Backend, h, c, gates, wh, h0,
		c0 array) error {
		if gates.Rank() == 3 && wh.Rank() == 2 && gates.Dim(2) == 4*wh.Dim(1) {
			units := wh.Dim(1)
			for row := 0; row < gates.Len(); row += 4 * units { // i, f, o, g, as Caffe has them
				for j := range units {
					a := gates.Float32s()[row+2*units+j:]
					a[0], a[units] = a[units], a[0]
				}
			}
		}
		return b.LSTM(h, c, gates, wh, h0, c0)
	}},
	{"keeps the projected inputs", "LSTM", "gates", func(b kernels.Backend, h, c, gates, wh, h0, c0 array) error {
		kept := slices.Clone(gates.Float32s())
		err := b.LSTM(h, c, gates, wh, h0, c0)
		copy(gates.Float32s(), kept)
		return err
	}},
	{"cuts the gradient off between steps", "LSTMGrad", "central differences", func(b kernels.Backend, gates, dh, c,
		wh, c0, dcLast, dh0, dc0 array) error {
		still := mustOf(make([]float32, wh.Len()), wh.Shape())
		return b.LSTMGrad(gates, dh, c, still, c0, dcLast, dh0, dc0)
	}},
	{"leaves out the gradient of the last cell", "LSTMGrad", "element", func(b kernels.Backend, gates, dh, c, wh, c0,
		_, dh0, dc0 array) error {
		return b.LSTMGrad(gates, dh, c, wh, c0, nil, dh0, dc0)
	}},
	{"takes no word for the first", "Embed", "element", func(b kernels.Backend, y, table, words array) error {
		return b.Embed(y, table, spoken(words))
	}},
	{"keeps one of several rows of a word", "EmbedGrad", "element", func(b kernels.Backend, dtable, dy,
		words array) error {
		seen, once := map[int32]bool{}, slices.Clone(words.Int32s())
		for i, word := range once {
			if seen[word] {
				once[i] = -1
			}
			seen[word] = true
		}
		return b.EmbedGrad(dtable, dy, numbers32(once, words))
	}},
	{"gives rows without a target a loss", "CrossEntropy", "loss", func(b kernels.Backend, loss, dh, dw, db, h, w,
		bias, targets array, scale float32) error {
		return b.CrossEntropy(loss, dh, dw, db, h, w, bias, spoken(targets), scale)
	}},
	{"ignores the scale", "CrossEntropy", "dh", func(b kernels.Backend, loss, dh, dw, db, h, w, bias, targets array,
		_ float32) error {
		return b.CrossEntropy(loss, dh, dw, db, h, w, bias, targets, 1)
	}},
	{"lets what masked rows hold through", "CrossEntropy", "NaN", func(b kernels.Backend, loss, dh, dw, db, h, w,
		bias, targets array, scale float32) error {
		err := b.CrossEntropy(loss, dh, dw, db, h, w, bias, targets, scale)
		if err == nil && dw != nil {
			for _, v := range h.Float32s() {
				dw.Float32s()[0] += 0 * v
			}
		}
		return err
	}},
	{"exponentials without the largest taken off", "LogSoftmax", "element", func(b kernels.Backend, x array) error {
		if err := b.LogSoftmax(mustOf(slices.Clone(x.Float32s()), x.Shape())); err != nil {
			return err
		}
		for from := 0; from < x.Len(); from += x.Dim(1) {
			row, sum := x.Float32s()[from:from+x.Dim(1)], 0.0
			for _, v := range row {
				sum += math.Exp(float64(v))
			}
			for i := range row {
				row[i] -= float32(math.Log(sum))
			}
		}
		return nil
	}},
}

// spoken takes no word for word 0.
func spoken(words array) array {
	list := slices.Clone(words.Int32s())
	for i := range list {
		list[i] = max(list[i], 0)
	}
	return numbers32(list, words)
}

// numbers32 is a tensor of integers with the shape of another. Negative words stay unchanged.
func numbers32(list []int32, like array) array {
	if like.Int32s() == nil {
		return like
	}
	t, err := tensor.OfInt32s(list, like.Shape()...)
	if err != nil {
		panic(err)
	}
	return t
}
