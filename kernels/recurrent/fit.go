package recurrent

import (
	"errors"
	"fmt"

	"nmn/kernels/tensor"
)

// ErrWord is wrapped by errors about words that the vocabulary does not have.
var ErrWord = errors.New("no such word")

// Layer is the checked shape of an LSTM layer over a sequence: T steps of N sequences with H hidden units.
type Layer struct{ T, N, H int }

// FitLSTM checks the operands of LSTM against each other. It is the shape rule of every device.
func FitLSTM(h, c, gates, wh, h0, c0 *tensor.Tensor) (Layer, error) {
	const operation = "lstm"
	l, err := fitLayer(operation, gates, wh)
	if err != nil {
		return l, err
	}
	return l, errors.Join(l.sequence(operation, "h", h), l.sequence(operation, "c", c), l.state(operation, "h0", h0),
		l.state(operation, "c0", c0))
}

// FitLSTMGrad checks the operands of LSTMGrad against each other. It is the shape rule of every device.
func FitLSTMGrad(gates, dh, c, wh, c0, dcLast, dh0, dc0 *tensor.Tensor) (Layer, error) {
	const operation = "lstm gradient"
	l, err := fitLayer(operation, gates, wh)
	if err != nil {
		return l, err
	}
	return l, errors.Join(l.sequence(operation, "dh", dh), l.sequence(operation, "c", c), l.state(operation, "c0", c0),
		l.state(operation, "dcLast", dcLast), l.state(operation, "dh0", dh0), l.state(operation, "dc0", dc0))
}

// fitLayer reads the shape off gates T×N×4H and wh 4H×H.
func fitLayer(operation string, gates, wh *tensor.Tensor) (l Layer, err error) {
	if !floats(gates, 3) || !floats(wh, 2) || wh.Dim(0) != 4*wh.Dim(1) || gates.Dim(2) != wh.Dim(0) || gates.Len() == 0 {
		return l, tensor.Misfit(operation, "gates are %s and recurrent weights %s, want T×N×4H and 4H×H, not empty", gates,
			wh)
	}
	return Layer{T: gates.Dim(0), N: gates.Dim(1), H: wh.Dim(1)}, nil
}

func (l Layer) sequence(operation, name string, x *tensor.Tensor) error {
	if !x.Is(tensor.Float32, l.T, l.N, l.H) {
		return tensor.Misfit(operation, "%s is %s, want float32 %d×%d×%d", name, x, l.T, l.N, l.H)
	}
	return nil
}

// state checks a tensor of one step. It may be nil.
func (l Layer) state(operation, name string, x *tensor.Tensor) error {
	if x != nil && !x.Is(tensor.Float32, l.N, l.H) {
		return tensor.Misfit(operation, "%s is %s, want float32 %d×%d", name, x, l.N, l.H)
	}
	return nil
}

// Lookup is the checked shape of an embedding: M rows of D numbers out of V.
type Lookup struct{ M, V, D int }

// FitEmbed checks rows M×D, a table V×D and words M against each other. It is the shape rule of every device.
func FitEmbed(operation string, rows, table, words *tensor.Tensor) (e Lookup, err error) {
	if !floats(rows, 2) || !floats(table, 2) || rows.Dim(1) != table.Dim(1) || table.Len() == 0 {
		return e, tensor.Misfit(operation, "rows are %s, table is %s, want float32 M×D and V×D", rows, table)
	}
	return Lookup{M: rows.Dim(0), V: table.Dim(0), D: table.Dim(1)}, fitWords(operation, words, rows.Dim(0))
}

func fitWords(operation string, words *tensor.Tensor, rows int) error {
	if words == nil || words.DType() != tensor.Int32 || words.Len() != rows {
		return tensor.Misfit(operation, "words are %s, want int32 %d", words, rows)
	}
	return nil
}

// FitCrossEntropy checks the operands of CrossEntropy against each other. It is the shape rule of every
// device.
func FitCrossEntropy(loss, dh, dw, db, h, w, b, targets *tensor.Tensor) (e Lookup, err error) {
	const operation = "softmax cross-entropy"
	if e, err = FitEmbed(operation, h, w, targets); err != nil {
		return e, err
	}
	if err := errors.Join(vector(operation, "loss", loss, e.M), vector(operation, "bias", b, e.V)); err != nil ||
		dh == nil && dw == nil && db == nil {
		return e, err
	}
	return e, errors.Join(like(operation, "gradient of h", dh, h), like(operation, "gradient of the weights", dw, w),
		vector(operation, "gradient of the bias", db, e.V))
}

// FitLogSoftmax checks x M×V. It is the shape rule of every device.
func FitLogSoftmax(x *tensor.Tensor) error {
	if !floats(x, 2) || x.Dim(1) == 0 {
		return fmt.Errorf("log-softmax: logits are %s, want float32 M×V: %w", x, tensor.ErrShape)
	}
	return nil
}

// FitAdd checks two tensors of one shape. It is the shape rule of every device.
func FitAdd(dst, src *tensor.Tensor) error {
	if dst == nil || src == nil || dst.DType() != tensor.Float32 || src.DType() != tensor.Float32 ||
		!tensor.SameShape(dst, src) {
		return fmt.Errorf("add: %s and %s, want float32 of one shape: %w", dst, src, tensor.ErrShape)
	}
	return nil
}

func floats(x *tensor.Tensor, rank int) bool {
	return x != nil && x.DType() == tensor.Float32 && x.Rank() == rank
}

func vector(operation, name string, x *tensor.Tensor, length int) error {
	if !x.Is(tensor.Float32, length) {
		return tensor.Misfit(operation, "%s is %s, want float32 %d", name, x, length)
	}
	return nil
}

func like(operation, name string, x, other *tensor.Tensor) error {
	if x == nil || x.DType() != other.DType() || !tensor.SameShape(x, other) {
		return tensor.Misfit(operation, "%s is %s, want %s", name, x, other)
	}
	return nil
}
