package bench

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"time"

	"nmn/group"
	"nmn/kernels/reduce"
	"nmn/kernels/tensor"
	"nmn/model"
)

// RankFigures are those of steps that several ranks make together; without others nothing of it.
type RankFigures struct {
	Ranks         int       `json:"ranks,omitempty"`
	SumsMS        float64   `json:"sums_ms,omitempty"` // all gradients summed over the ranks, with nothing beside it
	GradientBytes int       `json:"gradient_bytes,omitempty"`
	RankMemoryMiB []float64 `json:"rank_memory_mib,omitempty"` // the most that each process held
}

// shared is what a rank computes of the batches of all.
func (o Options) shared(n Net) (Net, error) {
	g := group.Of(o.Group)
	if n.Batch < g.Size() {
		return n, fmt.Errorf("bench: a batch of %d bags has not one for each of %d ranks", n.Batch, g.Size())
	}
	n.Batch = (n.Batch + g.Size() - 1 - g.Rank()) / g.Size()
	return n, nil
}

// together measures what ranks have beside their steps. Every rank calls it.
func (o Options) together(net *model.Net) (f RankFigures, err error) {
	g := group.Of(o.Group)
	if g.Size() == 1 {
		return f, nil
	}
	f.Ranks = g.Size()
	if f.RankMemoryMiB, err = gathered(g, mebibytes(peakMemory())); err != nil {
		return f, err
	}
	var buckets [][]*tensor.Tensor
	for _, p := range net.Params() {
		if p.G != nil {
			buckets = append(buckets, []*tensor.Tensor{p.G})
			f.GradientBytes += p.G.Bytes()
		}
	}
	reducer, err := reduce.New(g, net.Backend(), buckets, group.Float32)
	if err != nil {
		return f, err
	}
	sums, err := o.medianOf(net.Backend(), func() error {
		for bucket := range buckets {
			if err := reducer.Begin(bucket); err != nil {
				return err
			}
		}
		return reducer.Wait()
	})
	f.SumsMS = milliseconds(sums)
	return f, cmp.Or(err, reducer.Close())
}

// gathered is the number of each rank.
func gathered(g group.Group, own float64) ([]float64, error) {
	all, err := g.Gather(binary.LittleEndian.AppendUint64(nil, math.Float64bits(own)))
	if err != nil {
		return nil, err
	}
	numbers := make([]float64, len(all))
	for rank, told := range all {
		if len(told) != 8 {
			return nil, fmt.Errorf("bench: rank %d tells %d bytes", rank, len(told))
		}
		numbers[rank] = math.Float64frombits(binary.LittleEndian.Uint64(told))
	}
	return numbers, nil
}

// slowest replaces each duration by the longest of all ranks.
func slowest(g group.Group, durations []time.Duration) error {
	for i, d := range durations {
		all, err := gathered(g, float64(d))
		if err != nil {
			return err
		}
		for _, theirs := range all {
			durations[i] = max(durations[i], time.Duration(theirs))
		}
	}
	return nil
}
