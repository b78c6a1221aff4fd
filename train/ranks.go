package train

import (
	"errors"
	"fmt"
	"hash/crc32"
	"time"

	"nmn/group"
	"nmn/kernels/reduce"
	"nmn/kernels/tensor"
	"nmn/loader"
	"nmn/model"
)

// bucketBytes is how much of the gradients is summed at once: enough that the start of a sum costs little, and so
// little that the first sums begin early in the backward pass.
const bucketBytes = 25 << 20

// ranks are what a Trainer needs to learn together with others. On one rank it holds the group and nothing else.
type ranks struct {
	group   group.Group
	many    bool
	reducer reduce.Reducer
	after   []int // of each of the net's Gradients: the bucket that it completes, -1 for none
	upper   int   // buckets that are complete after the upper part of a step
	buckets int
	begun   int // of this step

	aligned bool          // the weights of all ranks are known to be those of rank 0
	told    []byte        // what this rank tells
	counts  []rankBatch   // of the batches of the step
	save    bool          // rank 0 asks for a checkpoint before this step
	wait    time.Duration // of this step, for other ranks

	badTold int // bags that this rank could not read, of which the others know
	bad     []loader.BadSample
	isBad   map[int]bool // bags in bad
}

// share is what this rank reads.
func (r *ranks) share() loader.Share {
	if !r.many {
		return loader.Share{}
	}
	return loader.Share{Rank: r.group.Rank(), Ranks: r.group.Size()}
}

// writes reports whether this rank is the one that writes whole checkpoints.
func (r *ranks) writes() bool { return r.group.Rank() == 0 }

// open makes the buckets of a net's gradients, and what sums them.
func (r *ranks) open(net *model.Net, wire group.Wire) (err error) {
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
func (r *ranks) fold(buckets [][]*tensor.Tensor, layers [][]*model.Param, from, to int) [][]*tensor.Tensor {
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
func (r *ranks) layerDone(layer int) error {
	if r.after[layer] < 0 {
		return nil
	}
	return r.beginTo(r.after[layer] + 1)
}

// beginTo begins the sums of all buckets before one that have not begun.
func (r *ranks) beginTo(end int) error {
	for ; r.begun < end; r.begun++ {
		if err := r.reducer.Begin(r.begun); err != nil {
			return err
		}
	}
	return nil
}

// waited counts the time since then as time for which this rank has waited for others.
func (r *ranks) waited(since time.Time) { r.wait += time.Since(since) }

func (r *ranks) close() error {
	if r.reducer == nil {
		return nil
	}
	return r.reducer.Close()
}

// agree returns an error on all ranks where one of them has one.
func (r *ranks) agree(err error) error {
	if !r.many {
		return err
	}
	return group.Agree(r.group, err)
}

// first is what rank 0 says.
func (r *ranks) first(yes bool) (bool, error) {
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

// errDrifted is the error of ranks whose weights are no longer the same.
var errDrifted = errors.New("the ranks have drifted apart")

// digest is a checksum of the weights of a net.
func digest(net *model.Net) ([]byte, error) {
	sum := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	for _, p := range net.Params() {
		if err := net.WriteParam(sum, p); err != nil {
			return nil, err
		}
	}
	return sum.Sum(nil), nil
}

// other compares the weights of all ranks, and returns the first rank whose weights are not those of rank 0; 0 for
// none.
func (r *ranks) other(net *model.Net) (rank int, err error) {
	own, err := digest(net)
	if err = group.Agree(r.group, err); err != nil {
		return 0, err
	}
	all, err := r.group.Gather(own)
	if err != nil {
		return 0, err
	}
	for rank := range all {
		if string(all[rank]) != string(all[0]) {
			return rank, nil
		}
	}
	return 0, nil
}

// together checks that all ranks have the same weights.
func (t *Trainer) together() error {
	if !t.ranks.many {
		return nil
	}
	rank, err := t.ranks.other(t.Net)
	if err == nil && rank > 0 {
		err = fmt.Errorf("training: after step %d the weights of rank %d (%s) are not those of rank 0: %w: their "+
			"machines compute differently, or one of them is faulty", t.at.Step, rank, t.ranks.group.Names()[rank],
			errDrifted)
	}
	return err
}

// alike refuses ranks that would make other steps: their calls would not fit together.
func (r *ranks) alike(t *Trainer) error {
	r.told = fmt.Appendf(r.told[:0], "%d bags, %d batches, %d steps, position %+v", t.Data.Len(), t.loader.Batches(), t.steps,
		t.at)
	all, err := r.group.Gather(r.told)
	if err != nil {
		return err
	}
	for rank := range all {
		if string(all[rank]) != string(all[0]) {
			return r.confused(rank)
		}
	}
	return nil
}

// align gives all ranks the weights of rank 0, before the first step. Those of a later one come from a checkpoint, and
// are the same.
func (t *Trainer) align() error {
	r := &t.ranks
	if !r.many || r.aligned {
		return nil
	}
	r.aligned = true
	if err := r.alike(t); err != nil {
		return err
	}
	if t.at.Step > 0 {
		return t.together()
	}
	rank, err := r.other(t.Net)
	if err != nil || rank == 0 {
		return err
	}
	for _, p := range t.Net.Params() {
		if err := r.send(t.Net, p); err != nil {
			return err
		}
	}
	return t.optimizer.startAverages()
}

// sentAtOnce is how many weights travel at once.
const sentAtOnce = 4 << 20

// send gives a parameter the values of rank 0.
func (r *ranks) send(net *model.Net, p *model.Param) error {
	values, err := net.Values(p)
	if err := group.Agree(r.group, err); err != nil {
		return err
	}
	for from := 0; from < len(values); from += sentAtOnce {
		part := values[from:min(from+sentAtOnce, len(values))]
		if r.group.Rank() > 0 {
			clear(part) // what is added to those of rank 0
		}
		if err := r.group.Sum(part, group.Float32); err != nil {
			return err
		}
		if err := r.group.Wait(); err != nil {
			return err
		}
	}
	return group.Agree(r.group, net.SetValues(p, values))
}
