package appendix

import (
	"cmp"
	"math"

	"nmn/internal/rng"
	"nmn/kernels"
	"nmn/kernels/noise"
	"nmn/kernels/tensor"
	"nmn/labels/rates"
)

// gradientGap is the largest difference between three gradients with respect to the logits of drawn scores, labels and
// rates: p1 - rho_1 from EM's auxiliary function (first equation of the appendix for a derivative), the gradient of the
// operation for joint training in single precision, and differences of -log p(z|I) in double precision.
func gradientGap(seed uint64) (gap float64, err error) {
	const n, k = 64, 8
	s := rng.New(rng.Derive(seed, "appendix/gradient"))
	logits, z, confidence := make([]float32, n*k), make([]float32, n*k), make([]float32, 4*k)
	for i := range logits {
		logits[i] = float32(s.Normal(0, 3))
		if s.Float64() < .4 {
			z[i] = 1
		}
	}
	q01, q10 := make([]float64, k), make([]float64, k)
	for c := range k { // O is [observed][true][class], and columns of true labels sum to one
		q01[c], q10[c] = .02+.5*s.Float64(), .01+.3*s.Float64()
		confidence[k+c] = float32(math.Log(q01[c] / (1 - q01[c])))
		confidence[2*k+c] = float32(math.Log(q10[c] / (1 - q10[c])))
	}
	got, err := jointGradient(logits, confidence, z, n, k)
	if err != nil {
		return 0, err
	}
	for i, o := range logits {
		c, label := i%k, uint8(z[i])
		want := rates.Sigmoid(float64(o)) - rates.Posterior(float64(o), label, q01[c], q10[c])
		const h = 1e-5
		above := surprise(float64(o)+h, label, q01[c], q10[c])
		difference := (above - surprise(float64(o)-h, label, q01[c], q10[c])) / (2 * h)
		gap = max(gap, math.Abs(float64(got[i])-want), math.Abs(difference-want))
	}
	return gap, nil
}

// jointGradient is the gradient of the logits by the operation that trains nets, on the CPU.
func jointGradient(logits, confidence, z []float32, n, k int) (gradient []float32, err error) {
	backend, err := kernels.OpenCPU(kernels.CPUConfig{Threads: 1})
	if err != nil {
		return nil, err
	}
	defer func() { err = cmp.Or(err, backend.Close()) }()
	gradient = make([]float32, n*k)
	var of [4]*tensor.Tensor
	for i, array := range []struct {
		data  []float32
		shape []int
	}{{logits, []int{n, 1, 1, k}}, {confidence, []int{1, 2, 2, k}}, {z, []int{n, k}}, {gradient, []int{n, 1, 1, k}}} {
		if of[i], err = tensor.OfFloat32s(array.data, array.shape...); err != nil {
			return nil, err
		}
	}
	err = backend.NoiseStep(noise.StepOutput{DLogits: of[3]}, of[0], of[1], of[2], nil, noise.StepParams{Scale: 1})
	return gradient, err
}

// surprise is -log p(z|I) of one label.
func surprise(o float64, z uint8, q01, q10 float64) float64 {
	p := rates.Sigmoid(o)
	one := (1-q01)*p + q10*(1-p)
	if z == 0 {
		one = 1 - one
	}
	return -math.Log(one)
}
