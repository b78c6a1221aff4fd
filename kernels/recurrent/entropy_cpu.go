package recurrent

import (
	"math"

	"nmn/kernels/tensor"
)

// CrossEntropy implements Ops.
func (c *CPU) CrossEntropy(loss, dh, dw, db, h, w, b, targets *tensor.Tensor, scale float32) error {
	const operation = "softmax cross-entropy"
	e, err := FitCrossEntropy(loss, dh, dw, db, h, w, b, targets)
	if err != nil {
		return err
	}
	if err := onHost(operation, loss, dh, dw, db, h, w, b, targets); err != nil {
		return err
	}
	if err := known(operation, targets.Int32s(), e.V); err != nil {
		return err
	}
	clear(list(dh))
	clear(list(dw))
	clear(list(db))
	c.logits = grow(c.logits, e.V)
	for m, target := range targets.Int32s() {
		loss.Float32s()[m] = 0
		if target < 0 {
			continue
		}
		row := h.Float32s()[m*e.D : (m+1)*e.D]
		for v := range c.logits {
			c.logits[v] = b.Float32s()[v] + dot(row, w.Float32s()[v*e.D:])
		}
		norm := logSumExp(c.logits)
		loss.Float32s()[m] = norm - c.logits[target]
		if dh == nil {
			continue
		}
		to := dh.Float32s()[m*e.D : (m+1)*e.D]
		for v, logit := range c.logits {
			dl := scale * float32(math.Exp(float64(logit-norm)))
			if v == int(target) {
				dl = scale * float32(math.Expm1(float64(logit-norm)))
			}
			db.Float32s()[v] += dl
			c.level.AddScaled(to, w.Float32s()[v*e.D:], dl)
			c.level.AddScaled(dw.Float32s()[v*e.D:(v+1)*e.D], row, dl)
		}
	}
	return nil
}

// LogSoftmax implements Ops.
func (c *CPU) LogSoftmax(x *tensor.Tensor) error {
	if err := FitLogSoftmax(x); err != nil {
		return err
	}
	if err := onHost("log-softmax", x); err != nil {
		return err
	}
	v := x.Dim(1)
	for from := 0; from < x.Len(); from += v {
		row := x.Float32s()[from : from+v]
		norm := logSumExp(row)
		for i := range row {
			row[i] -= norm
		}
	}
	return nil
}

// logSumExp is the logarithm of the sum of exponentials.
func logSumExp(row []float32) float32 {
	top := row[0]
	for _, v := range row[1:] {
		top = max(top, v)
	}
	sum := 0.0
	for _, v := range row {
		sum += math.Exp(float64(v - top))
	}
	return top + float32(math.Log(sum))
}
