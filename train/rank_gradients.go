package train

import (
	"time"

	"nmn/kernels/reduce"
	"nmn/kernels/tensor"
	"nmn/loader"
	"nmn/model"
	"nmn/ranks"
)

// bucketBytes is how much of the gradients is summed at once: enough that the start of a sum costs little, and so
// little that the first sums begin early in the backward pass.
const bucketBytes = 25 << 20

// gradientSums sums the gradients of several ranks, in buckets of layers. The zero value sums nothing.
type gradientSums struct {
	reducer reduce.Reducer
	after   []int // of each of the net's Gradients: the bucket that it completes, -1 for none
	upper   int   // buckets that are complete after the upper part of a step
	buckets int
	begun   int // of this step
}

// open makes the buckets of a net's gradients, and the operation that sums them.
func (s *gradientSums) open(g ranks.Group, net *model.Net, wire ranks.Wire) (err error) {
	layers := net.Gradients()
	s.after = make([]int, len(layers))
	for i := range s.after {
		s.after[i] = -1
	}
	var buckets [][]*tensor.Tensor
	split := net.UpperGradients()
	for _, part := range [][2]int{{0, split}, {split, len(layers)}} {
		buckets = s.fold(buckets, layers, part[0], part[1])
		if part[0] == 0 {
			s.upper = len(buckets)
		}
	}
	s.buckets = len(buckets)
	s.reducer, err = reduce.New(g, net.Backend(), buckets, wire)
	return err
}

// fold adds the buckets of the layers [from, to).
func (s *gradientSums) fold(buckets [][]*tensor.Tensor, layers [][]*model.Param, from, to int) [][]*tensor.Tensor {
	var sizes, places []int
	for i := from; i < to; i++ {
		size := 0
		for _, p := range layers[i] {
			size += p.G.Bytes()
		}
		if size > 0 {
			sizes, places = append(sizes, size), append(places, i)
		}
	}
	first := 0
	for _, end := range reduce.Fold(sizes, bucketBytes) {
		var bucket []*tensor.Tensor
		for _, i := range places[first:end] {
			for _, p := range layers[i] {
				bucket = append(bucket, p.G)
			}
		}
		s.after[places[end-1]] = len(buckets)
		buckets, first = append(buckets, bucket), end
	}
	return buckets
}

// layerDone begins the sum of the bucket that a layer completes.
func (s *gradientSums) layerDone(layer int) error {
	if s.after[layer] < 0 {
		return nil
	}
	return s.beginTo(s.after[layer] + 1)
}

// beginTo begins the sums of all buckets before end that have not begun.
func (s *gradientSums) beginTo(end int) error {
	for ; s.begun < end; s.begun++ {
		if err := s.reducer.Begin(s.begun); err != nil {
			return err
		}
	}
	return nil
}

func (s *gradientSums) close() error {
	if s.reducer == nil {
		return nil
	}
	reducer := s.reducer
	s.reducer = nil
	return reducer.Close()
}

// lastRead is the last batch with bags of this rank; -1 for none.
func lastRead(batches []*loader.Batch) int {
	last := len(batches) - 1
	for last >= 0 && batches[last].N == 0 {
		last--
	}
	return last
}

// sumGradients waits for the sums of the gradients of all ranks, and computes their norm. A rank without bags adds
// zeros.
func (u *updater) sumGradients(nothing bool) error {
	u.section("wait for other ranks")
	began := time.Now()
	if nothing {
		if err := u.Net.ClearGradients(); err != nil {
			return err
		}
	}
	err := u.sums.beginTo(u.sums.buckets)
	if err == nil {
		err = u.sums.reducer.Wait()
	}
	u.ranks.waited(began)
	if err != nil {
		return err
	}
	return u.do(work{norm: true}, u.measure)
}

// gradientsTogether computes the gradients of the last batch of a step while it sums the gradients of all
// ranks. Each bucket begins when the pass completes it. A sum of several ranks cannot be recorded. On a
// device that records, the pass is therefore recorded in two parts, and buckets begin after each.
func (u *updater) gradientsTogether() error {
	if !u.graphs.Records() {
		u.options.Done = u.layerDone
		return u.enqueueGradients()
	}
	u.work.part, u.options.Part = model.UpperPart, model.UpperPart
	if err := u.do(u.work, u.gradients); err != nil {
		return err
	}
	if err := u.sums.beginTo(u.sums.upper); err != nil || u.sums.upper == u.sums.buckets {
		return err
	}
	u.work.part, u.options.Part = model.LowerPart, model.LowerPart
	return u.do(u.work, u.gradients)
}
