package ledger

import (
	"fmt"

	"nmn/kernels/conv"
	"nmn/kernels/tensor"
)

// Passes of cuDNN as its plans name them.
const (
	forward         = "cudnn forward"
	forwardBias     = "cudnn forward+bias"
	forwardBiasReLU = "cudnn forward+bias+relu"
	firstConv       = "first_conv_bf16" // not of cuDNN: all of it by a kernel

	maskedDataGradient = "cudnn masked data gradient"
	dataGradient       = "cudnn data gradient"
	filterGradient     = "cudnn filter gradient"
)

// product writes a plan of cuDNN down. like is an operand, whose type says how it multiplies.
func (l *Ledger) product(part Part, pass string, flop float64, like *tensor.Tensor, read, written int) {
	math := l.precision
	switch {
	case like.DType() == tensor.BFloat16:
		math = tensor.BF16
	case math == tensor.BF16: // float32 beside the maps, as the noise model's products
		math = tensor.FP32
	}
	l.launches = append(l.launches,
		Launch{Kernel: pass, Part: part, Read: read, Written: written, FLOP: flop, Math: math})
}

// flop counts each multiplication and each addition of the definition.
func flop(g conv.Geometry) float64 {
	return 2 * float64(g.N*g.P*g.Q) * float64(g.R*g.S*g.C) * float64(g.K)
}

// half is the size of a tensor in bfloat16.
func half(t *tensor.Tensor) int { return t.Len() * tensor.BFloat16.Size() }

// fits checks what a card checks.
func fits(operation string, x, w, y *tensor.Tensor, p conv.Params, mask *tensor.Tensor) (conv.Geometry, error) {
	g, err := conv.Fit(operation, x, w, y, p)
	switch {
	case err != nil:
	case x.Len() == 0 || w.Len() == 0:
		err = fmt.Errorf("%s: input %s, filter %s: nothing to compute: %w", operation, x, w, tensor.ErrShape)
	case mask != nil && (!tensor.SameShape(mask, x) || mask.DType() != x.DType()):
		err = fmt.Errorf("%s: mask %s for gradient %s: %w", operation, mask, x, tensor.ErrShape)
	}
	return g, err
}

// Conv implements conv.Ops: one plan, unless bfloat16 operands are to give a float32 output that cuDNN cannot, or a
// kernel of its own computes all.
func (l *Ledger) Conv(y, x, w, b *tensor.Tensor, p conv.Params) error {
	g, err := fits("conv", x, w, y, p, nil)
	if err != nil {
		return err
	}
	read := bytesOf(some(x, w))
	if x.DType() == tensor.BFloat16 && y.DType() != x.DType() && !wide(g.C) {
		l.reserve("conv scratch", half(y))
		l.product(Forward, forward, flop(g), x, read, half(y))
		l.launches = append(l.launches, Launch{Kernel: "from_bf16", Part: Forward, Read: half(y), Written: y.Bytes()})
		if b != nil || p.ReLU {
			l.launch(Forward, "add_bias", some(y, b), some(y))
		}
		return nil
	}
	narrow := x.DType() == tensor.BFloat16 && y.DType() == x.DType()
	switch {
	case b != nil && narrow && g.LikeFirst():
		l.product(Forward, firstConv, flop(g), x, read+b.Bytes(), y.Bytes())
	case b != nil && narrow && g.K%16 == 0: // with a bias in bfloat16
		l.reserve("conv operand", half(b))
		l.launches = append(l.launches, Launch{Kernel: "to_bf16", Part: Rest, Read: b.Bytes(), Written: half(b)})
		pass := forwardBias
		if p.ReLU {
			pass = forwardBiasReLU
		}
		l.product(Forward, pass, flop(g), x, read+half(b), y.Bytes())
	case b != nil && p.ReLU:
		l.product(Forward, forwardBiasReLU, flop(g), x, read+b.Bytes(), y.Bytes())
	case b != nil:
		l.product(Forward, forwardBias, flop(g), x, read+b.Bytes(), y.Bytes())
	default:
		l.product(Forward, forward, flop(g), x, read, y.Bytes())
		if p.ReLU {
			l.launch(Forward, typed("add_bias", y), some(y), some(y))
		}
	}
	return nil
}

// ConvAdd implements conv.Ops: the products by cuDNN, bias, shortcut and ReLU by a kernel behind them.
func (l *Ledger) ConvAdd(y, x, w, b, shortcut *tensor.Tensor, p conv.Params) error {
	const operation = "conv and shortcut"
	g, err := fits(operation, x, w, y, p, nil)
	if err != nil {
		return err
	}
	if shortcut == nil || shortcut.DType() != y.DType() || !tensor.SameShape(shortcut, y) {
		return fmt.Errorf("%s: shortcut %s for output %s: %w", operation, shortcut, y, tensor.ErrShape)
	}
	if shortcut.Address() == y.Address() {
		l.reserve("conv scratch", y.Bytes())
	}
	l.product(Forward, forward, flop(g), x, bytesOf(some(x, w)), y.Bytes())
	l.launch(Forward, typed("add_shortcut", y), some(y, shortcut, b), some(y))
	return nil
}

// wide reports whether cuDNN writes float32 results from bfloat16 operands with so many channels.
func wide(channels ...int) bool {
	for _, c := range channels {
		if c%8 != 0 {
			return false
		}
	}
	return true
}

// upstream rounds the gradient of an output to the type of the other operand, and returns its size.
func (l *Ledger) upstream(x, dy *tensor.Tensor) (bytes int) {
	if x.DType() == dy.DType() || x.DType() != tensor.BFloat16 {
		return dy.Bytes()
	}
	l.reserve("conv operand", half(dy))
	l.launches = append(l.launches, Launch{Kernel: "to_bf16", Part: Rest, Read: dy.Bytes(), Written: half(dy)})
	return half(dy)
}

// ConvGradData implements conv.Ops.
func (l *Ledger) ConvGradData(dx, dy, w, mask *tensor.Tensor, p conv.Params) error {
	g, err := fits("conv data gradient", dx, w, dy, p, mask)
	if err != nil {
		return err
	}
	read := w.Bytes() + l.upstream(dx, dy)
	if l.fused(g, dx, mask) && !p.Accumulate {
		l.product(DataGradient, maskedDataGradient, flop(g), dx, read+mask.Bytes(), dx.Bytes())
		return nil
	}
	if p.Accumulate || mask != nil && mask.Address() == dx.Address() {
		l.reserve("conv scratch", dx.Bytes())
	}
	l.dataGradient(g, dx, read)
	if mask != nil || p.Accumulate { // what cuDNN has written is of the type and size of dx
		l.launch(Masks, typed("end_gradient", dx), some(dx, mask, when(p.Accumulate, dx)), some(dx))
	}
	return nil
}

// dataGradient writes down how dx is computed where nothing masks it: by one plan, or by a product and its sums.
func (l *Ledger) dataGradient(g conv.Geometry, dx *tensor.Tensor, read int) {
	if !g.ByColumns() {
		l.product(DataGradient, dataGradient, flop(g), dx, read, dx.Bytes())
		return
	}
	columns := g.N * g.P * g.Q * g.R * g.S * g.C * dx.DType().Size()
	l.reserve("conv columns", columns)
	l.product(DataGradient, dataGradient, flop(g), dx, read, columns)
	l.launches = append(l.launches,
		Launch{Kernel: typed("gather_columns", dx), Part: DataGradient, Read: columns, Written: dx.Bytes()})
}

// fused reports whether cuDNN masks a data gradient: where it has a plan for that, on tensor cores, and the mask is not
// overwritten. Where a card measures it as slower, a kernel of its own masks, which a ledger cannot know.
func (l *Ledger) fused(g conv.Geometry, dx, mask *tensor.Tensor) bool {
	return mask != nil && mask.Address() != dx.Address() && wide(g.C) && !g.ByColumns() &&
		(dx.DType() == tensor.BFloat16 || l.precision == tensor.TF32)
}

// ConvGradDataBias is ConvGradData with the sum of dx over all cells in db: one kernel masks, writes and adds, so that
// the gradient is not read again for its sum. Accumulate is for db alone.
func (l *Ledger) ConvGradDataBias(dx, db, dy, w, mask *tensor.Tensor, p conv.Params) error {
	const operation = "conv data and bias gradient"
	g, err := fits(operation, dx, w, dy, p, mask)
	if err != nil {
		return err
	}
	if db == nil || db.Rank() != 1 || db.Len() != dx.Dim(3) {
		return fmt.Errorf("%s: bias %s for gradient %s: %w", operation, db, dx, tensor.ErrShape)
	}
	read, before := w.Bytes()+l.upstream(dx, dy), when(p.Accumulate, db)
	if l.fused(g, dx, mask) {
		l.product(DataGradient, maskedDataGradient, flop(g), dx, read+mask.Bytes(), dx.Bytes())
		l.launch(BiasGradient, typed("bias_gradient", dx), some(dx, before), some(db))
		return nil
	}
	if mask != nil && mask.Address() == dx.Address() {
		l.reserve("conv scratch", dx.Bytes())
	}
	l.dataGradient(g, dx, read)
	if mask == nil {
		l.launch(BiasGradient, typed("bias_gradient", dx), some(dx, before), some(db))
		return nil
	}
	l.launch(Masks, typed("mask_bias_gradient", dx), some(dx, mask, before), some(dx, db))
	return nil
}

// ConvGradFilter implements conv.Ops: in float32 from bfloat16 operands where cuDNN has a plan. Where a card measures
// that plan as too slow, it takes the other way, which a ledger cannot know.
func (l *Ledger) ConvGradFilter(dw, x, dy *tensor.Tensor, p conv.Params) error {
	g, err := fits("conv filter gradient", x, dw, dy, p, nil)
	if err != nil {
		return err
	}
	read := x.Bytes() + l.upstream(x, dy)
	if x.DType() != dw.DType() && !wide(g.C, g.K) {
		l.reserve("conv scratch", half(dw))
		l.product(FilterGradient, filterGradient, flop(g), x, read, half(dw))
		l.launches = append(l.launches, Launch{Kernel: "from_bf16", Part: FilterGradient,
			Read: half(dw) + bytesOf(some(when(p.Accumulate, dw))), Written: dw.Bytes()})
		return nil
	}
	if p.Accumulate {
		l.reserve("conv scratch", dw.Bytes())
	}
	l.product(FilterGradient, filterGradient, flop(g), x, read, dw.Bytes())
	if p.Accumulate {
		l.launch(FilterGradient, typed("end_gradient", dw), some(dw, dw), some(dw))
	}
	return nil
}

// ConvGradBias implements conv.Ops.
func (l *Ledger) ConvGradBias(db, dy *tensor.Tensor, p conv.Params) error {
	if db == nil || dy == nil || db.Rank() != 1 || dy.Rank() != 4 || dy.Dim(3) != db.Len() {
		return fmt.Errorf("conv bias gradient: bias %s, output %s: %w", db, dy, tensor.ErrShape)
	}
	if db.Len() > 0 {
		l.launch(BiasGradient, typed("bias_gradient", dy), some(dy, when(p.Accumulate, db)), some(db))
	}
	return nil
}
