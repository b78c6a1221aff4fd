package measure

import (
	"cmp"
	"fmt"
	"time"

	"nmn/kernels/reduce"
	"nmn/kernels/tensor"
	"nmn/model"
	"nmn/ranks"
)

// RankFigures are measurements of steps that several ranks make together. One rank alone has none.
type RankFigures struct {
	Ranks         int       `json:"ranks,omitempty"`
	SumsMS        float64   `json:"sums_ms,omitempty"` // all gradients summed over the ranks, with nothing else running
	GradientBytes int       `json:"gradient_bytes,omitempty"`
	RankMemoryMiB []float64 `json:"rank_memory_mib,omitempty"` // the most that each process held
}

// shared is the share of a rank in the batches.
func (o Options) shared(n Net) (Net, error) {
	g := ranks.Of(o.Group)
	if n.Batch < g.Size() {
		return n, fmt.Errorf("bench: a batch of %d samples is too small for %d ranks", n.Batch, g.Size())
	}
	n.Batch = (n.Batch + g.Size() - 1 - g.Rank()) / g.Size()
	return n, nil
}

// together measures the sums of ranks and the memory of all of them. Every rank calls it.
func (o Options) together(net *model.Net, memory float64) (f RankFigures, err error) {
	g := ranks.Of(o.Group)
	if g.Size() == 1 {
		return f, nil
	}
	f.Ranks = g.Size()
	if f.RankMemoryMiB, err = ranks.Every(g, memory, nil); err != nil {
		return f, err
	}
	var buckets [][]*tensor.Tensor
	for _, p := range net.Params() {
		if p.G != nil {
			buckets = append(buckets, []*tensor.Tensor{p.G})
			f.GradientBytes += p.G.Bytes()
		}
	}
	sums, err := o.reduced(net, buckets)
	f.SumsMS = milliseconds(sums)
	return f, err
}

// reduced times the sums of gradients that travel between the ranks.
func (o Options) reduced(net *model.Net, buckets [][]*tensor.Tensor) (time.Duration, error) {
	reducer, err := reduce.New(o.Group, net.Backend(), buckets, ranks.Float32)
	if err != nil {
		return 0, err
	}
	sums, err := o.medianOf(net.Backend(), func() error {
		for bucket := range buckets {
			if err := reducer.Begin(bucket); err != nil {
				return err
			}
		}
		return reducer.Wait()
	})
	return sums, cmp.Or(err, reducer.Close())
}

// slowest replaces each duration by the longest of all ranks.
func slowest(g ranks.Group, durations []time.Duration) error {
	all, err := ranks.Every(g, durations, nil)
	for _, theirs := range all {
		for i := range durations {
			durations[i] = max(durations[i], theirs[i])
		}
	}
	return err
}
