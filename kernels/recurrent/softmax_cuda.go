//go:build cuda

package recurrent

import (
	"cmp"

	"nmn/cuda"
	"nmn/cuda/cudnn"
	"nmn/kernels/tensor"
)

// wordBlock is the number of words whose logits are in memory at a time. A multiple of 4 keeps the weights
// of every block at multiples of 16 bytes.
const wordBlock = 2048

// softmaxCall is a CrossEntropy in progress, by addresses. sum, in float64, top and target are results for
// each row: the sum of exponentials, the largest logit, the logit of the target.
type softmaxCall struct {
	Lookup
	kept, logits, part        cuda.Address
	sum, top, target          cuda.Address
	dh, dw, db, w, b, targets cuda.Address
	scale                     float32
}

func (c *CUDA) CrossEntropy(loss, dh, dw, db, h, w, b, targets *tensor.Tensor, scale float32) error {
	const operation = "softmax cross-entropy"
	shape, err := FitCrossEntropy(loss, dh, dw, db, h, w, b, targets)
	if err := cmp.Or(err, placed(operation, loss, dh, dw, db, h, w, b),
		tensor.OnDevice(operation, tensor.Int32, targets)); err != nil {
		return err
	}
	s := softmaxCall{
		Lookup: shape, dh: tensor.At(dh), dw: tensor.At(dw), db: tensor.At(db), w: tensor.At(w), b: tensor.At(b),
		targets: tensor.At(targets), scale: scale,
	}
	if s.M == 0 {
		return c.noGradients(dw, db)
	}
	if err := c.reserveSoftmax(&s); err != nil {
		return err
	}
	rows, block := cuda.Dim3{X: s.M}, cuda.Dim3{X: threads}
	if err := c.softmax.softmaxRows.Launch(c.device.Stream, rows, block, softmaxRowsArguments{
		kept: s.kept, h: tensor.At(h), targets: s.targets, width: int32(s.D),
	}); err != nil {
		return err
	}
	for first := 0; first < s.V; first += wordBlock {
		if err := c.findSums(&s, first); err != nil {
			return err
		}
	}
	if err := c.softmax.softmaxLoss.Launch(c.device.Stream, cuda.Dim3{X: tensor.Ceil(s.M, threads)}, block,
		softmaxLossArguments{
			loss: tensor.At(loss), top: s.top, sum: s.sum, target: s.target, targets: s.targets, rows: int32(s.M),
			vocabulary: int32(s.V),
		}); err != nil {
		return err
	}
	for first := 0; first < s.V && dh != nil; first += wordBlock {
		if err := c.giveGradients(&s, first); err != nil {
			return err
		}
	}
	return nil
}

// noGradients writes the weights' gradients if there are no rows. dw and db may be nil.
func (c *CUDA) noGradients(dw, db *tensor.Tensor) error {
	for _, t := range []*tensor.Tensor{dw, db} {
		if t == nil {
			continue
		}
		if err := c.device.Stream.Zero(tensor.At(t), t.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

func (c *CUDA) reserveSoftmax(s *softmaxCall) (err error) {
	if s.kept, err = c.kept.Reserve(c.device, 4*s.M*s.D); err != nil {
		return err
	}
	if s.logits, err = c.products.Reserve(c.device, 4*s.M*min(wordBlock, s.V)); err != nil {
		return err
	}
	if s.part, err = c.part.Reserve(c.device, 4*s.M*s.D); err != nil {
		return err
	}
	if s.sum, err = c.found.Reserve(c.device, 16*s.M); err != nil {
		return err
	}
	s.top, s.target = offset(s.sum, 2*s.M), offset(s.sum, 3*s.M)
	return nil
}

// blockLogits computes the logits of a block of words, without their biases, and returns how many words it has.
func (c *CUDA) blockLogits(s *softmaxCall, first int) (words int, err error) {
	words = min(wordBlock, s.V-first)
	return words, c.multiply.Run(cudnn.Forward, s.M, s.D, words, cudnn.Operands{X: s.kept, W: offset(s.w, first*s.D),
		Y: s.logits})
}

// findSums is a block of words of the first pass.
func (c *CUDA) findSums(s *softmaxCall, first int) error {
	words, err := c.blockLogits(s, first)
	if err != nil {
		return err
	}
	return c.softmax.softmaxBlock.Launch(c.device.Stream, cuda.Dim3{X: s.M}, cuda.Dim3{X: threads}, softmaxBlockArguments{
		logits: s.logits, bias: s.b, targets: s.targets, top: s.top, sum: s.sum, target: s.target, words: int32(words),
		first: int32(first),
	})
}

// giveGradients is a block of words of the second pass.
func (c *CUDA) giveGradients(s *softmaxCall, first int) error {
	words, err := c.blockLogits(s, first)
	if err != nil {
		return err
	}
	block := cuda.Dim3{X: threads}
	if err := c.softmax.softmaxGradient.Launch(c.device.Stream, cuda.Dim3{X: s.M}, block, softmaxGradientArguments{
		logits: s.logits, bias: s.b, top: s.top, sum: s.sum, targets: s.targets, words: int32(words), first: int32(first),
		vocabulary: int32(s.V), scale: s.scale,
	}); err != nil {
		return err
	}
	sum, err := c.columns.Sum(c.device, "softmax bias gradient", s.M, words)
	if err != nil {
		return err
	}
	if err := c.softmax.softmaxBiasGradient.Launch(c.device.Stream, sum.Grid, sum.Block, softmaxBiasGradientArguments{
		db: offset(s.db, first), gradients: s.logits, partial: sum.Partial, tickets: sum.Tickets,
		rows: int32(s.M), words: int32(words),
	}); err != nil {
		return err
	}
	dw := cudnn.Operands{X: s.kept, W: offset(s.dw, first*s.D), Y: s.logits}
	if err := c.multiply.Run(cudnn.FilterGradient, s.M, s.D, words, dw); err != nil {
		return err
	}
	to := s.dh // the first block begins the sum
	if first > 0 {
		to = s.part
	}
	if err := c.multiply.Run(cudnn.DataGradient, s.M, s.D, words, cudnn.Operands{X: to, W: offset(s.w, first*s.D),
		Y: s.logits}); err != nil || first == 0 {
		return err
	}
	return c.add(s.dh, s.part, s.M*s.D)
}

func (c *CUDA) LogSoftmax(x *tensor.Tensor) error {
	if err := cmp.Or(FitLogSoftmax(x), tensor.OnDevice("log-softmax", tensor.Float32, x)); err != nil || x.Len() == 0 {
		return err
	}
	return c.softmax.logSoftmax.Launch(c.device.Stream, cuda.Dim3{X: x.Dim(0)}, cuda.Dim3{X: threads},
		logSoftmaxArguments{x: tensor.At(x), words: int32(x.Dim(1))})
}
