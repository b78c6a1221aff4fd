package ledger

import (
	"cmp"

	"nmn/kernels/pool"
	"nmn/kernels/tensor"
)

// MaxPool implements pool.Ops.
func (l *Ledger) MaxPool(y, x *tensor.Tensor) error {
	if _, err := pool.FitMax("max pooling", y, x); err != nil || x.Len() == 0 {
		return err
	}
	l.launch(Pool, typed("max_pool", x), some(x), some(y))
	return nil
}

// MaxPoolGrad implements pool.Ops.
func (l *Ledger) MaxPoolGrad(dx, dy, x, y *tensor.Tensor, _ bool) error {
	g, err := pool.FitMaxGrad("gradient of max pooling", dx, dy, x, y)
	if err != nil || x.Len() == 0 {
		return err
	}
	l.scattered("max_pool_gradient", g, x, some(dy, y), some(dx))
	return nil
}

// scattered writes a gradient of maxima down. Of each window of x three elements are compared with the maximum: where
// none of them is it, the fourth must be, and is not read.
func (l *Ledger) scattered(kernel string, g pool.Geometry, x *tensor.Tensor, read, written []*tensor.Tensor) {
	compared := g.T * (g.H*g.W - g.H/2*(g.W/2)) * g.C * x.DType().Size()
	l.launches = append(l.launches,
		Launch{Kernel: typed(kernel, x), Part: Pool, Read: bytesOf(read) + compared, Written: bytesOf(written)})
}

// MaxPoolGradBias implements pool.Ops.
func (l *Ledger) MaxPoolGradBias(dx, db, dy, x, y *tensor.Tensor, p pool.MaxGradParams) error {
	const operation = "gradient of max pooling and bias"
	g, err := pool.FitMaxGrad(operation, dx, dy, x, y)
	if err := cmp.Or(err, g.FitChannels(operation, db)); err != nil || g.C == 0 {
		return err
	}
	l.scattered("max_pool_gradient_bias", g, x, some(dy, y, when(p.Accumulate, db)), some(dx, db))
	return nil
}

// MaxPool3 implements pool.Ops.
func (l *Ledger) MaxPool3(y, x *tensor.Tensor) error {
	if _, err := pool.FitMax("3×3 max pooling", y, x); err != nil || x.Len() == 0 {
		return err
	}
	l.launch(Pool, typed("max_pool3", x), some(x), some(y))
	return nil
}

// MaxPool3Grad implements pool.Ops: the windows of each element are gone through, their elements come from a cache.
func (l *Ledger) MaxPool3Grad(dx, dy, x, y *tensor.Tensor, _ bool) error {
	_, err := pool.FitMaxGrad("gradient of 3×3 max pooling", dx, dy, x, y)
	if err != nil || x.Len() == 0 {
		return err
	}
	l.launch(Pool, typed("max_pool3_gradient", x), some(dy, x, y), some(dx))
	return nil
}

// MaxPool3GradBias implements pool.Ops by two passes.
func (l *Ledger) MaxPool3GradBias(dx, db, dy, x, y *tensor.Tensor, p pool.MaxGradParams) error {
	const operation = "gradient of 3×3 max pooling and bias"
	g, err := pool.FitMaxGrad(operation, dx, dy, x, y)
	if err := cmp.Or(err, g.FitChannels(operation, db)); err != nil || g.C == 0 {
		return err
	}
	if err := l.MaxPool3Grad(dx, dy, x, y, p.ReLU); err != nil {
		return err
	}
	l.launch(BiasGradient, typed("bias_gradient", dx), some(dx, when(p.Accumulate, db)), some(db))
	return nil
}

// AvgPool implements pool.Ops.
func (l *Ledger) AvgPool(y, x *tensor.Tensor) error {
	if _, err := pool.FitAvg("average pooling", y, x); err != nil || x.Len() == 0 {
		return err
	}
	l.launch(Pool, "avg_pool", some(x), some(y))
	return nil
}

// AvgPoolGrad implements pool.Ops.
func (l *Ledger) AvgPoolGrad(dx, dy *tensor.Tensor) error {
	if _, err := pool.FitAvg("gradient of average pooling", dy, dx); err != nil || dx.Len() == 0 {
		return err
	}
	l.launch(Pool, "avg_pool_gradient", some(dy), some(dx))
	return nil
}

// BagPool implements pool.Ops.
func (l *Ledger) BagPool(g, x, bags *tensor.Tensor, kind pool.Kind) error {
	const operation = "bag pooling"
	_, err := pool.FitBag(operation, g, x, bags)
	if err := cmp.Or(err, pool.FitKind(operation, kind)); err != nil {
		return err
	}
	l.launch(Rest, typed("bag_pool", x), some(x, bags), some(g))
	return nil
}

// BagPoolGrad implements pool.Ops. Maxima are looked for from the first cell on: what is read is that of those in the
// last one.
func (l *Ledger) BagPoolGrad(dx, dg, x, g, bags *tensor.Tensor, kind pool.Kind, accumulate bool) error {
	const operation = "gradient of bag pooling"
	_, err := pool.FitBag(operation, dg, dx, bags)
	if err := cmp.Or(err, pool.FitKind(operation, kind)); err != nil {
		return err
	}
	before := when(accumulate, dx)
	if kind == pool.Mean {
		l.launch(Rest, typed("bag_mean_gradient", dx), some(dg, bags, before), some(dx))
		return nil
	}
	if err := cmp.Or(pool.FitLike(operation, dx, x), pool.FitLike(operation, dg, g)); err != nil {
		return err
	}
	l.launch(Rest, typed("bag_max_gradient", dx), some(dg, x, g, bags, before), some(dx))
	return nil
}
