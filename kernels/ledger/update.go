package ledger

import (
	"cmp"
	"fmt"

	"nmn/kernels/tensor"
	"nmn/kernels/update"
)

// each writes one launch over all entries that are not at rest down, with what one of them reads and writes, unless
// they do not fit or the parameters are wrong, which err says.
func (l *Ledger) each(err error, kernel string, entries []update.Entry, use update.Use,
	moved func(e *update.Entry) (read, written []*tensor.Tensor)) error {
	if err := cmp.Or(err, update.Fit(kernel, entries, use)); err != nil {
		return err
	}
	launch := Launch{Kernel: kernel, Part: Update}
	for i := range entries {
		e := &entries[i]
		if e.LR == 0 || e.G.Len() == 0 {
			continue
		}
		read, written := moved(e)
		launch.Read, launch.Written = launch.Read+bytesOf(read), launch.Written+bytesOf(written)
	}
	if launch.Bytes() > 0 {
		l.launches = append(l.launches, launch)
	}
	return nil
}

// SGD implements update.Ops.
func (l *Ledger) SGD(entries []update.Entry, _ float32) error {
	const use = update.UseG | update.UseW | update.UseM
	return l.each(nil, "sgd", entries, use, func(e *update.Entry) (read, written []*tensor.Tensor) {
		return some(e.G, e.W, e.M), some(e.W, e.M, e.Copy)
	})
}

// Adam implements update.Ops.
func (l *Ledger) Adam(entries []update.Entry, p update.AdamParams) error {
	return l.adam("adam", entries, p)
}

// AdamW implements update.Ops.
func (l *Ledger) AdamW(entries []update.Entry, p update.AdamParams) error {
	return l.adam("adamw", entries, p)
}

func (l *Ledger) adam(kernel string, entries []update.Entry, p update.AdamParams) error {
	const use = update.UseG | update.UseW | update.UseM | update.UseV
	return l.each(update.FitAdam(p), kernel, entries, use, func(e *update.Entry) (read, written []*tensor.Tensor) {
		return some(e.G, e.W, e.M, e.V), some(e.W, e.M, e.V, e.Copy)
	})
}

const averaging = update.UseG | update.UseW | update.UseAverage

// Average implements update.Ops.
func (l *Ledger) Average(entries []update.Entry, share float32) error {
	err := update.FitShare(share)
	return l.each(err, "average", entries, averaging, func(e *update.Entry) (read, written []*tensor.Tensor) {
		return some(e.W, e.Average), some(e.Average)
	})
}

// Exchange implements update.Ops.
func (l *Ledger) Exchange(entries []update.Entry) error {
	return l.each(nil, "exchange", entries, averaging, func(e *update.Entry) (read, written []*tensor.Tensor) {
		return some(e.W, e.Average), some(e.W, e.Average, e.Copy)
	})
}

// GradNorm implements update.Ops. It is launched for no gradients too: their norm is 0.
func (l *Ledger) GradNorm(norm *tensor.Tensor, entries []update.Entry) error {
	if norm == nil || norm.Len() != 1 {
		return fmt.Errorf("gradient norm: %s, want one number: %w", norm, tensor.ErrShape)
	}
	before := len(l.launches)
	err := l.each(nil, "gradient_norm", entries, update.UseG, func(e *update.Entry) (read, written []*tensor.Tensor) {
		return some(e.G), nil
	})
	if err != nil {
		return err
	}
	if len(l.launches) == before {
		l.launch(Update, "gradient_norm", nil, nil)
	}
	l.launches[before].Written += norm.Bytes()
	return nil
}

// Clip implements update.Ops. What it moves is that of a norm above the limit.
func (l *Ledger) Clip(entries []update.Entry, norm *tensor.Tensor, limit float32) error {
	err := update.FitClip(norm, limit)
	return l.each(err, "clip", entries, update.UseG, func(e *update.Entry) (read, written []*tensor.Tensor) {
		return some(e.G), some(e.G)
	})
}

// Zero implements update.Ops.
func (l *Ledger) Zero(t *tensor.Tensor) error {
	if t == nil {
		return fmt.Errorf("zero: no tensor: %w", tensor.ErrShape)
	}
	if t.Bytes() > 0 {
		l.launch(Rest, Memset, nil, some(t))
	}
	return nil
}
