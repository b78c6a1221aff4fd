package noise

import (
	"math"

	"nmn/kernels/simd"
	"nmn/kernels/tensor"
)

// bceJob is the input of the blocks of BCE. loss and do are nil if not wanted.
type bceJob struct {
	loss, do, o, z []float32
	classes        int
	scale          float32
}

// BCE implements Ops. do may be the memory of o.
func (c *CPU) BCE(loss, do, o, z *tensor.Tensor, scale float32) error {
	const operation = "bce"
	n, k, err := fitBCE(loss, do, o, z)
	if err := firstError(err, onHost(operation, loss, do, o, z)); err != nil {
		return err
	}
	if err := checkLabels(operation, z.Float32s(), k, false); err != nil {
		return err
	}
	c.bce = bceJob{loss: memory(loss), do: memory(do), o: o.Float32s(), z: z.Float32s(), classes: k, scale: scale}
	c.workers.Run(n, c.bceBlock)
	c.bce = bceJob{}
	return nil
}

// runBCEBlock computes one row. As for a bag, the logarithms of softplus(o) = max(o,0) + log(1+e) are joined
// to the logarithm of a product, here over the classes.
func (c *CPU) runBCEBlock(_, row int) {
	j := &c.bce
	o := j.o[row*j.classes:][:j.classes]
	z := j.z[row*j.classes:][:j.classes]
	sum, excess := 0.0, 0.0
	for k, v := range o {
		logit, target := float64(v), float64(z[k])
		e := simd.ExpNegative(-math.Abs(logit))
		sum += max(logit, 0) - target*logit
		excess += e + e*excess
		if k%foldAfter == foldAfter-1 {
			sum, excess = sum+math.Log1p(excess), 0
		}
		if j.do != nil {
			large := 1 / (1 + e)
			p, q := large, e*large
			if logit < 0 {
				p, q = q, p
			}
			// sigmoid(o) - z without its cancellation
			j.do[row*j.classes+k] = float32(float64(j.scale) * ((1-target)*p - target*q))
		}
	}
	if j.loss != nil {
		j.loss[row] = float32(sum + math.Log1p(excess))
	}
}
