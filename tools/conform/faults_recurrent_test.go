package conform

import (
	"math"
	"slices"

	"nmn/kernels/tensor"
)

// brokenSequences are the replaced operations of package recurrent.
type brokenSequences struct {
	lstm       func(b *referenceBackend, h, c, gates, wh, h0, c0 *tensor.Tensor) error
	lstmGrad   func(b *referenceBackend, gates, dh, c, wh, c0, dcLast, dh0, dc0 *tensor.Tensor) error
	embed      func(b *referenceBackend, y, table, words *tensor.Tensor) error
	embedGrad  func(b *referenceBackend, dtable, dy, words *tensor.Tensor) error
	entropy    func(b *referenceBackend, loss, dh, dw, db, h, w, bias, targets *tensor.Tensor, scale float32) error
	logSoftmax func(b *referenceBackend, x *tensor.Tensor) error
}

func (b *broken) LSTM(h, c, gates, wh, h0, c0 *tensor.Tensor) error {
	return or(b.lstm, (*referenceBackend).LSTM)(b.referenceBackend, h, c, gates, wh, h0, c0)
}

func (b *broken) LSTMGrad(gates, dh, c, wh, c0, dcLast, dh0, dc0 *tensor.Tensor) error {
	return or(b.lstmGrad, (*referenceBackend).LSTMGrad)(b.referenceBackend, gates, dh, c, wh, c0, dcLast, dh0, dc0)
}

func (b *broken) Embed(y, table, words *tensor.Tensor) error {
	return or(b.embed, (*referenceBackend).Embed)(b.referenceBackend, y, table, words)
}

func (b *broken) EmbedGrad(dtable, dy, words *tensor.Tensor) error {
	return or(b.embedGrad, (*referenceBackend).EmbedGrad)(b.referenceBackend, dtable, dy, words)
}

func (b *broken) CrossEntropy(loss, dh, dw, db, h, w, bias, targets *tensor.Tensor, scale float32) error {
	entropy := or(b.entropy, (*referenceBackend).CrossEntropy)
	return entropy(b.referenceBackend, loss, dh, dw, db, h, w, bias, targets, scale)
}

func (b *broken) LogSoftmax(x *tensor.Tensor) error {
	return or(b.logSoftmax, (*referenceBackend).LogSoftmax)(b.referenceBackend, x)
}

// sequenceFaults are the faults of package recurrent.
var sequenceFaults = []fault{
	{"forgets the first state", "LSTM", "element", broken{brokenSequences: brokenSequences{lstm: func(b *referenceBackend,
		h, c, gates, wh, _, c0 *tensor.Tensor) error {
		return b.LSTM(h, c, gates, wh, nil, c0)
	}}}},
	{"takes the gates in another order", "LSTM", "element",
		broken{brokenSequences: brokenSequences{lstm: func(b *referenceBackend, h, c, gates, wh, h0,
			c0 *tensor.Tensor) error {
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
		}}}},
	{"keeps the projected inputs", "LSTM", "gates", broken{brokenSequences: brokenSequences{lstm: func(b *referenceBackend,
		h, c, gates, wh, h0, c0 *tensor.Tensor) error {
		kept := slices.Clone(gates.Float32s())
		err := b.LSTM(h, c, gates, wh, h0, c0)
		copy(gates.Float32s(), kept)
		return err
	}}}},
	{"cuts the gradient off between steps", "LSTMGrad", "central differences",
		broken{brokenSequences: brokenSequences{lstmGrad: func(b *referenceBackend, gates, dh, c, wh, c0, dcLast, dh0,
			dc0 *tensor.Tensor) error {
			still := mustOf(make([]float32, wh.Len()), wh.Shape())
			return b.LSTMGrad(gates, dh, c, still, c0, dcLast, dh0, dc0)
		}}}},
	{"leaves out the gradient of the last cell", "LSTMGrad", "element",
		broken{brokenSequences: brokenSequences{lstmGrad: func(b *referenceBackend, gates, dh, c, wh, c0, _, dh0,
			dc0 *tensor.Tensor) error {
			return b.LSTMGrad(gates, dh, c, wh, c0, nil, dh0, dc0)
		}}}},
	{"takes no word for the first", "Embed", "element",
		broken{brokenSequences: brokenSequences{embed: func(b *referenceBackend, y, table, words *tensor.Tensor) error {
			return b.Embed(y, table, spoken(words))
		}}}},
	{"keeps one of several rows of a word", "EmbedGrad", "element",
		broken{brokenSequences: brokenSequences{embedGrad: func(b *referenceBackend, dtable, dy, words *tensor.Tensor) error {
			seen, once := map[int32]bool{}, slices.Clone(words.Int32s())
			for i, word := range once {
				if seen[word] {
					once[i] = -1
				}
				seen[word] = true
			}
			return b.EmbedGrad(dtable, dy, numbers32(once, words))
		}}}},
	{"gives rows without a target a loss", "CrossEntropy", "loss",
		broken{brokenSequences: brokenSequences{entropy: func(b *referenceBackend, loss, dh, dw, db, h, w, bias,
			targets *tensor.Tensor, scale float32) error {
			return b.CrossEntropy(loss, dh, dw, db, h, w, bias, spoken(targets), scale)
		}}}},
	{"ignores the scale", "CrossEntropy", "dh", broken{brokenSequences: brokenSequences{entropy: func(b *referenceBackend,
		loss, dh, dw, db, h, w, bias, targets *tensor.Tensor, _ float32) error {
		return b.CrossEntropy(loss, dh, dw, db, h, w, bias, targets, 1)
	}}}},
	{"lets what masked rows hold through", "CrossEntropy", "NaN",
		broken{brokenSequences: brokenSequences{entropy: func(b *referenceBackend, loss, dh, dw, db, h, w, bias,
			targets *tensor.Tensor, scale float32) error {
			err := b.CrossEntropy(loss, dh, dw, db, h, w, bias, targets, scale)
			if err == nil && dw != nil {
				for _, v := range h.Float32s() {
					dw.Float32s()[0] += 0 * v
				}
			}
			return err
		}}}},
	{"exponentials without the largest taken off", "LogSoftmax", "element",
		broken{brokenSequences: brokenSequences{logSoftmax: func(b *referenceBackend, x *tensor.Tensor) error {
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
		}}}},
}

// spoken takes no word for word 0.
func spoken(words *tensor.Tensor) *tensor.Tensor {
	list := slices.Clone(words.Int32s())
	for i := range list {
		list[i] = max(list[i], 0)
	}
	return numbers32(list, words)
}

// numbers32 is a tensor of integers with the shape of another. Negative words stay unchanged.
func numbers32(list []int32, like *tensor.Tensor) *tensor.Tensor {
	if like.Int32s() == nil {
		return like
	}
	t, err := tensor.OfInt32s(list, like.Shape()...)
	if err != nil {
		panic(err)
	}
	return t
}
