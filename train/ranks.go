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

// ranks are the state that a Trainer needs to learn with other ranks. With one rank it holds only the group.
type rankState struct {
	group   ranks.Group
	many    bool
	reducer reduce.Reducer
	after   []int // of each of the net's Gradients: the bucket that it completes, -1 for none
	upper   int   // buckets that are complete after the upper part of a step
	buckets int
	begun   int // of this step

	told   []byte        // this rank's message
	counts []rankBatch   // of the batches of the step
	save   bool          // rank 0 asks for a checkpoint before this step
	wait   time.Duration // of this step, for other ranks

	badTold int // bags that this rank could not read and has reported to the others
	bad     []loader.BadSample
	isBad   map[int]bool // bags in bad
}

// share returns this rank's share of the reading.
func (r *rankState) share() loader.Share {
	if !r.many {
		return loader.Share{}
	}
	return loader.Share{Rank: r.group.Rank(), Ranks: r.group.Size()}
}

// writes reports whether this rank is the one that writes whole checkpoints.
func (r *rankState) writes() bool { return r.group.Rank() == 0 }

// open makes the buckets of a net's gradients, and the operation that sums them.
func (r *rankState) open(net *model.Net, wire ranks.Wire) (err error) {
	if !r.many {
		return nil
	}
	layers := net.Gradients()
	r.after = make([]int, len(layers))
	for i := range r.after {
		r.after[i] = -1
	}
	var buckets [][]*tensor.Tensor
	split := net.UpperGradients()
	for _, part := range [][2]int{{0, split}, {split, len(layers)}} {
		buckets = r.fold(buckets, layers, part[0], part[1])
		if part[0] == 0 {
			r.upper = len(buckets)
		}
	}
	r.buckets = len(buckets)
	r.reducer, err = reduce.New(r.group, net.Backend(), buckets, wire)
	return err
}

// fold adds the buckets of the layers [from, to).
func (r *rankState) fold(buckets [][]*tensor.Tensor, layers [][]*model.Param, from, to int) [][]*tensor.Tensor {
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
		r.after[places[end-1]] = len(buckets)
		buckets, first = append(buckets, bucket), end
	}
	return buckets
}

// layerDone begins the sum of the bucket that a layer completes.
func (r *rankState) layerDone(layer int) error {
	if r.after[layer] < 0 {
		return nil
	}
	return r.beginTo(r.after[layer] + 1)
}

// beginTo begins the sums of all buckets before end that have not begun.
func (r *rankState) beginTo(end int) error {
	for ; r.begun < end; r.begun++ {
		if err := r.reducer.Begin(r.begun); err != nil {
			return err
		}
	}
	return nil
}

// waited counts the time since then as time for which this rank has waited for others.
func (r *rankState) waited(since time.Time) { r.wait += time.Since(since) }

func (r *rankState) close() error {
	if r.reducer == nil {
		return nil
	}
	reducer := r.reducer
	r.reducer = nil
	return reducer.Close()
}

// agree returns an error on all ranks if any of them has one.
func (r *rankState) agree(err error) error {
	if !r.many {
		return err
	}
	return ranks.Agree(r.group, err)
}

// first returns rank 0's value of yes on all ranks.
func (r *rankState) first(yes bool) (bool, error) {
	if !r.many {
		return yes, nil
	}
	said := []byte{0}
	if yes {
		said[0] = 1
	}
	err := r.group.Broadcast(said)
	return said[0] == 1, err
}
