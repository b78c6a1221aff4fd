package profile

import "nmn/kernels/tensor"

// LSTM counts the arithmetic of the products with the recurrent weights.
func (r *Recorder) LSTM(h, c, gates, wh, h0, c0 *tensor.Tensor) error {
	layer := r.layer(wh)
	r.names[h], r.names[c] = layer, layer
	o := Op{Layer: layer, Name: "lstm", Shape: shapeOf(gates), FLOP: products(gates, wh), Bytes: bytesOf(h, c, gates,
		gates, wh, h0, c0)}
	return r.do(o, func() error { return r.backend.LSTM(h, c, gates, wh, h0, c0) })
}

func (r *Recorder) LSTMGrad(gates, dh, c, wh, c0, dcLast, dh0, dc0 *tensor.Tensor) error {
	o := Op{Layer: r.layer(wh), Name: "lstm gradient", Shape: shapeOf(gates), FLOP: products(gates, wh),
		Bytes: bytesOf(gates, gates, dh, c, wh, c0, dcLast, dh0, dc0)}
	return r.do(o, func() error { return r.backend.LSTMGrad(gates, dh, c, wh, c0, dcLast, dh0, dc0) })
}

func (r *Recorder) Embed(y, table, words *tensor.Tensor) error {
	r.names[y] = r.layer(table)
	o := r.op(table, "embedding", y, bytesOf(y, y, words))
	return r.do(o, func() error { return r.backend.Embed(y, table, words) })
}

func (r *Recorder) EmbedGrad(dtable, dy, words *tensor.Tensor) error {
	o := r.op(dtable, "embedding gradient", dy, bytesOf(dtable, dy, words))
	return r.do(o, func() error { return r.backend.EmbedGrad(dtable, dy, words) })
}

// CrossEntropy counts the arithmetic of all rows, and of the logits once: rows without a target may cost nothing, and
// logits may be computed again.
func (r *Recorder) CrossEntropy(loss, dh, dw, db, h, w, b, targets *tensor.Tensor, scale float32) error {
	o := Op{Layer: r.layer(w), Name: "softmax cross-entropy", Shape: shapeOf(h) + " * " + shapeOf(w), FLOP: products(h, w),
		Bytes: bytesOf(loss, dh, dw, db, h, w, b, targets)}
	if dh != nil {
		o.FLOP *= 3
	}
	return r.do(o, func() error { return r.backend.CrossEntropy(loss, dh, dw, db, h, w, b, targets, scale) })
}

func (r *Recorder) LogSoftmax(x *tensor.Tensor) error {
	return r.do(r.op(x, "log-softmax", x, bytesOf(x, x)), func() error { return r.backend.LogSoftmax(x) })
}

func (r *Recorder) Add(dst, src *tensor.Tensor) error {
	return r.do(r.op(dst, "add", dst, bytesOf(dst, dst, src)), func() error { return r.backend.Add(dst, src) })
}

// products counts multiplications and additions of a matrix with the rows of x, whose width is one of its
// two dimensions.
func products(x, matrix *tensor.Tensor) float64 {
	if x == nil || matrix == nil || x.Rank() == 0 || x.Dim(-1) == 0 {
		return 0 // the backend will report it
	}
	return 2 * float64(x.Len()/x.Dim(-1)) * float64(matrix.Len())
}
