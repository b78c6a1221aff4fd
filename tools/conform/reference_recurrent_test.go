package conform

import (
	"nmn/kernels/recurrent"
	"nmn/kernels/tensor"
	"nmn/tools/ref"
)

func (b *referenceBackend) LSTM(h, c, gates, wh, h0, c0 *tensor.Tensor) error {
	l, err := recurrent.FitLSTM(h, c, gates, wh, h0, c0)
	if err != nil {
		return err
	}
	newH, newC, activations := ref.LSTM(l).Forward(get(gates), get(wh), get(h0), get(c0))
	put(h, newH)
	put(c, newC)
	put(gates, activations)
	return nil
}

func (b *referenceBackend) LSTMGrad(gates, dh, c, wh, c0, dcLast, dh0, dc0 *tensor.Tensor) error {
	l, err := recurrent.FitLSTMGrad(gates, dh, c, wh, c0, dcLast, dh0, dc0)
	if err != nil {
		return err
	}
	da, toH, toC := ref.LSTM(l).Backward(get(gates), get(dh), get(c), get(wh), get(c0), get(dcLast))
	put(gates, da)
	put(dh0, toH)
	put(dc0, toC)
	return nil
}

// inVocabulary reports whether no word is beyond the last.
func inVocabulary(words *tensor.Tensor, vocabulary int) bool {
	for _, word := range words.Int32s() {
		if int(word) >= vocabulary {
			return false
		}
	}
	return true
}

func (b *referenceBackend) Embed(y, table, words *tensor.Tensor) error {
	e, err := recurrent.FitEmbed("embed", y, table, words)
	if err == nil {
		err = need("embed", inVocabulary(words, e.V))
	}
	if err == nil {
		put(y, ref.Embed(get(table), words.Int32s(), e.D))
	}
	return err
}

func (b *referenceBackend) EmbedGrad(dtable, dy, words *tensor.Tensor) error {
	e, err := recurrent.FitEmbed("embedding gradient", dy, dtable, words)
	if err == nil {
		err = need("embedding gradient", inVocabulary(words, e.V))
	}
	if err == nil {
		put(dtable, ref.EmbedGrad(get(dy), words.Int32s(), e.V, e.D))
	}
	return err
}

func (b *referenceBackend) CrossEntropy(loss, dh, dw, db, h, w, bias, targets *tensor.Tensor, scale float32) error {
	e, err := recurrent.FitCrossEntropy(loss, dh, dw, db, h, w, bias, targets)
	if err == nil {
		err = need("cross-entropy", inVocabulary(targets, e.V))
	}
	if err != nil {
		return err
	}
	r := ref.Entropy{M: e.M, V: e.V, D: e.D}
	put(loss, r.Losses(get(h), get(w), get(bias), targets.Int32s()))
	if dh != nil {
		toH, toW, toB := r.Gradients(get(h), get(w), get(bias), targets.Int32s(), float64(scale))
		put(dh, toH)
		put(dw, toW)
		put(db, toB)
	}
	return nil
}

func (b *referenceBackend) LogSoftmax(x *tensor.Tensor) error {
	if err := recurrent.FitLogSoftmax(x); err != nil {
		return err
	}
	put(x, ref.LogSoftmax(get(x), x.Dim(1)))
	return nil
}

func (b *referenceBackend) Add(dst, src *tensor.Tensor) error {
	if err := recurrent.FitAdd(dst, src); err != nil {
		return err
	}
	put(dst, sum(get(dst), get(src)))
	return nil
}
