package ledger

import (
	"nmn/kernels/recurrent"
	"nmn/kernels/tensor"
)

// float is the size of what this family computes in.
const float = 4

// matrix writes a product of rows with a matrix outputs × inputs down, as a 1×1 convolution. Each pass reads two of
// the three operands and writes the third.
func (l *Ledger) matrix(part Part, pass string, rows, inputs, outputs int) {
	x, w, y := float*rows*inputs, float*inputs*outputs, float*rows*outputs
	launch := Launch{Kernel: pass, Part: part, FLOP: 2 * float64(rows) * float64(inputs) * float64(outputs),
		Math: tensor.FP32}
	if l.precision == tensor.TF32 {
		launch.Math = tensor.TF32
	}
	switch part {
	case DataGradient:
		launch.Read, launch.Written = y+w, x
	case FilterGradient:
		launch.Read, launch.Written = x+y, w
	default:
		launch.Read, launch.Written = x+w, y
	}
	l.launches = append(l.launches, launch)
}

// own writes a kernel down by the float32 that it reads and writes.
func (l *Ledger) own(kernel string, read, written int) {
	l.launches = append(l.launches, Launch{Kernel: kernel, Part: Rest, Read: float * read, Written: float * written})
}

// LSTM implements recurrent.Ops: for each step a product, unless the state is 0, and the gates.
func (l *Ledger) LSTM(h, c, gates, wh, h0, c0 *tensor.Tensor) error {
	s, err := recurrent.FitLSTM(h, c, gates, wh, h0, c0)
	if err != nil {
		return err
	}
	units := s.N * s.H
	l.reserve("recurrent products", float*4*units)
	for t := range s.T {
		read := 4 * units
		if t > 0 || h0 != nil {
			if t > 0 && (t-1)*units%4 != 0 { // the state before does not begin at a multiple of 16 bytes: it is copied
				l.reserve("recurrent state", float*units)
				l.own(Memcpy, units, units)
			}
			l.matrix(Forward, forward, s.N, s.H, 4*s.H)
			read += 4 * units
		}
		if t > 0 || c0 != nil {
			read += units
		}
		l.own("lstm_gates", read, 6*units)
	}
	return nil
}

// LSTMGrad implements recurrent.Ops.
func (l *Ledger) LSTMGrad(gates, dh, c, wh, c0, dcLast, dh0, dc0 *tensor.Tensor) error {
	s, err := recurrent.FitLSTMGrad(gates, dh, c, wh, c0, dcLast, dh0, dc0)
	if err != nil {
		return err
	}
	units := s.N * s.H
	l.reserve("recurrent products", float*units)
	l.reserve("recurrent carried", float*units)
	if dcLast != nil {
		l.own(Memcpy, units, units)
	} else {
		l.own(Memset, 0, units)
	}
	for t := s.T - 1; t >= 0; t-- {
		read := 7 * units // gates, the gradient of h, the cells, and the gradient of these
		if t < s.T-1 {
			l.matrix(DataGradient, dataGradient, s.N, s.H, 4*s.H)
			read += units
		}
		if t > 0 || c0 != nil {
			read += units
		}
		l.own("lstm_gates_gradient", read, 5*units)
	}
	if dh0 != nil {
		l.matrix(DataGradient, dataGradient, s.N, s.H, 4*s.H)
	}
	if dc0 != nil {
		l.own(Memcpy, units, units)
	}
	return nil
}

// Embed implements recurrent.Ops.
func (l *Ledger) Embed(y, table, words *tensor.Tensor) error {
	e, err := recurrent.FitEmbed("embedding", y, table, words)
	if err != nil || e.M == 0 {
		return err
	}
	l.launch(Rest, "embed", some(y, words), some(y)) // of the table as many rows as of y
	return nil
}

// EmbedGrad implements recurrent.Ops.
func (l *Ledger) EmbedGrad(dtable, dy, words *tensor.Tensor) error {
	if _, err := recurrent.FitEmbed("gradient of the embedding", dy, dtable, words); err != nil {
		return err
	}
	l.launch(Rest, "embed_gradient", some(dy, words), some(dtable))
	return nil
}

// wordBlock is the number of words whose logits are in memory at a time.
const wordBlock = 2048

// CrossEntropy implements recurrent.Ops: logits are computed by blocks of words, once for their sum and once more for
// the gradients.
func (l *Ledger) CrossEntropy(loss, dh, dw, db, h, w, b, targets *tensor.Tensor, _ float32) error {
	s, err := recurrent.FitCrossEntropy(loss, dh, dw, db, h, w, b, targets)
	if err != nil {
		return err
	}
	if s.M == 0 {
		for _, t := range some(dw, db) {
			if t != nil && t.Bytes() > 0 {
				l.launch(Rest, Memset, nil, some(t))
			}
		}
		return nil
	}
	l.reserve("recurrent kept", float*s.M*s.D)
	l.reserve("recurrent products", float*s.M*min(wordBlock, s.V))
	l.reserve("recurrent part", float*s.M*s.D)
	l.reserve("recurrent found", 16*s.M)
	rows := s.M * s.D
	l.own("softmax_rows", rows+s.M, rows)
	for first := 0; first < s.V; first += wordBlock {
		words := min(wordBlock, s.V-first)
		l.matrix(Forward, forward, s.M, s.D, words)
		l.own("softmax_block", s.M*words+words+s.M, 4*s.M)
	}
	l.own("softmax_loss", 5*s.M, s.M)
	for first := 0; first < s.V && dh != nil; first += wordBlock {
		words := min(wordBlock, s.V-first)
		l.matrix(Forward, forward, s.M, s.D, words)
		l.own("softmax_gradient", s.M*words+words+5*s.M, s.M*words)
		l.own("softmax_bias_gradient", s.M*words, words)
		l.matrix(FilterGradient, filterGradient, s.M, s.D, words)
		l.matrix(DataGradient, dataGradient, s.M, s.D, words)
		if first > 0 {
			l.own("add", 2*rows, rows)
		}
	}
	return nil
}

// LogSoftmax implements recurrent.Ops.
func (l *Ledger) LogSoftmax(x *tensor.Tensor) error {
	if err := recurrent.FitLogSoftmax(x); err != nil || x.Len() == 0 {
		return err
	}
	l.launch(Rest, "log_softmax", some(x), some(x))
	return nil
}

// Add implements recurrent.Ops.
func (l *Ledger) Add(dst, src *tensor.Tensor) error {
	if err := recurrent.FitAdd(dst, src); err != nil || dst.Len() == 0 {
		return err
	}
	l.launch(Rest, "add", some(dst, src), some(dst))
	return nil
}
