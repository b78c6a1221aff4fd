package train

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"nmn/format/safetensors"
	"nmn/loader"
	"nmn/model"
)

// Names of the tensors in which a checkpoint within the first epoch keeps online scores.
const (
	onlineLogits = "online.logits"
	onlineIndex  = "online.index"
)

// mostOnline bounds the logits that are kept, to 256 MiB. In half an epoch of COCO there are 41 million.
const mostOnline = 1 << 26

// onlineScores are the scores of the bags of the second half of the first epoch, each computed before the net learned
// from the bag. By then the net has learned from other bags. nil scores nothing.
type onlineScores struct {
	give   func(context.Context, *Scores) error
	net    *model.Net
	feed   *feed
	ranks  *rankState
	loader *loader.Loader
	set    *loader.Set
	batch  int     // bags of a full batch
	first  int     // batch from which bags are scored
	scorer *scorer // nil before the first of them
}

// newOnlineScores returns nil if Options.Online is nil.
func newOnlineScores(o *Options, f *feed, r *rankState, l *loader.Loader) *onlineScores {
	if o.Online == nil {
		return nil
	}
	batch := o.Config.Batch(o.Net.Config().MIL)
	return &onlineScores{give: o.Online, net: o.Net, feed: f, ranks: r, loader: l, set: o.Data, batch: batch,
		first: firstScored(l.Batches(), batch*o.Net.Config().Classes)}
}

// firstScored is the batch in the middle of an epoch, or a later one if that would give more scores than are
// kept. Batches come in random order, so the last ones are a random sample.
func firstScored(batches, scoresOfBatch int) int {
	return max((batches+1)/2, batches-max(1, mostOnline/scoresOfBatch))
}

// begin makes room for the logits of the bags that are scored.
func (o *onlineScores) begin() {
	o.scorer = newLogitScorer(o.net, min(o.set.Len(), (o.loader.Batches()-o.first)*o.batch))
	o.scorer.rates.kept = o.ranks.many
}

// add scores the batches of the step that follows a position, before the net learns from them. There is no dropout.
func (o *onlineScores) add(batches []*loader.Batch, at Position) error {
	if o == nil || at.Epoch != 1 {
		return nil
	}
	for _, batch := range batches {
		if batch.Number < o.first {
			continue
		}
		if o.scorer == nil {
			o.begin()
		}
		if batch.N == 0 { // this rank has no part of it
			continue
		}
		values, err := o.score(batch)
		if err == nil {
			err = o.scorer.add(batch, values)
		}
		if err != nil {
			return fmt.Errorf("online scores of step %d: %w", at.Step+1, err)
		}
	}
	return nil
}

// score scores a batch and waits for it.
func (o *onlineScores) score(batch *loader.Batch) (values [][]float32, err error) {
	plan, err := o.net.Plan(batch.T, batch.N, true)
	if err != nil {
		return nil, err
	}
	if err := o.feed.take(plan, batch); err != nil { // it is taken once more when the net learns from it
		return nil, err
	}
	if err := cmp.Or(o.net.Normalize(plan), o.net.Forward(plan, false)); err != nil {
		return nil, err
	}
	list, err := o.scorer.outputs(plan)
	if err != nil {
		return nil, err
	}
	for _, result := range list {
		host := make([]float32, result.Len())
		if err := o.net.Backend().Download(hostOver(host), result); err != nil {
			return nil, err
		}
		values = append(values, host)
	}
	return values, nil
}

// gather gives every rank the scores that all have found since the last call, in the order of the epoch.
func (o *onlineScores) gather(at Position) error {
	if o == nil || !o.ranks.many || at.Epoch != 1 || at.Batch <= o.first {
		return nil
	}
	if o.scorer == nil { // this rank had no bag
		o.begin()
	}
	places, order := map[int]int{}, o.loader.Order(at.Epoch)
	for batch := o.first; batch < at.Batch; batch++ {
		for _, bag := range order.Batch(batch) {
			places[bag] = len(places)
		}
	}
	err := o.scorer.gather(o.ranks.group, o.scorer.common, func(bag int) int {
		if place, known := places[bag]; known {
			return place
		}
		return math.MaxInt
	})
	o.scorer.common = len(o.scorer.index)
	return err
}

// handOver gives the scores away at the end of the first epoch.
func (o *onlineScores) handOver(ctx context.Context, at Position) error {
	if o == nil || at.Epoch != 1 {
		return nil
	}
	if err := o.gather(at); err != nil {
		return err
	}
	if o.scorer == nil {
		return fmt.Errorf("training: no online scores: the first epoch of %q has %d batches, whose second half is "+
			"scored before it is learned from",
			o.set.Name, o.loader.Batches())
	}
	bad := o.loader.Bad(0)
	if o.ranks.many {
		bad = o.ranks.bad
	}
	scores, err := o.scorer.scores(bad)
	if err == nil {
		err = o.give(ctx, scores)
	}
	return o.ranks.agree(err)
}

// tensors are the scores not handed over yet, which a checkpoint must keep.
func (o *onlineScores) tensors(at Position) []safetensors.Tensor {
	if o == nil || o.scorer == nil || at.Epoch != 1 {
		return nil
	}
	n, k := len(o.scorer.index), o.scorer.classes
	index := make([]int64, n)
	for i, bag := range o.scorer.index {
		index[i] = int64(bag)
	}
	return []safetensors.Tensor{
		{Name: onlineLogits, DType: safetensors.F32, Shape: []int{n, k}, Data: o.scorer.logits[:n*k]},
		{Name: onlineIndex, DType: safetensors.I64, Shape: []int{n}, Data: index},
	}
}

// resume takes them back from the checkpoint of a position.
func (o *onlineScores) resume(p Position, file *safetensors.File) error {
	if o == nil {
		return nil
	}
	o.scorer = nil
	if p.Epoch != 1 {
		return nil
	}
	if !file.Has(onlineLogits) {
		if p.Batch > o.first {
			return fmt.Errorf("it was saved in the first epoch without online scores: %w", ErrOtherRun)
		}
		return nil
	}
	logits, shape, err := file.Float32(onlineLogits)
	if err != nil {
		return err
	}
	index, rows, err := file.Int64(onlineIndex)
	if err != nil {
		return err
	}
	o.begin()
	s := o.scorer
	if len(shape) != 2 || len(rows) != 1 || rows[0] > s.capacity || shape[0] != rows[0] || shape[1] != s.classes {
		return fmt.Errorf("its online scores are %v of %v samples: %w", shape, rows, ErrCorrupt)
	}
	for i, bag := range index {
		if bag < 0 || bag >= int64(o.set.Len()) {
			return fmt.Errorf("its online score %d belongs to sample %d of %d: %w", i, bag, o.set.Len(), ErrCorrupt)
		}
		s.index = append(s.index, int(bag))
	}
	s.common = len(s.index)
	copy(s.logits, logits)
	return nil
}
