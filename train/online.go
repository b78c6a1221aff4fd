package train

import (
	"context"
	"fmt"

	"nmn/format/safetensors"
	"nmn/loader"
)

// Names of the tensors in which a checkpoint within the first epoch keeps online scores.
const (
	onlineLogits = "online.logits"
	onlineIndex  = "online.index"
)

// onlineScores bounds the logits that are kept, to 256 MiB. In half an epoch of COCO there are 41 million.
const onlineScores = 1 << 26

// firstOnline is the batch of the first epoch from which bags are scored.
func (t *Trainer) firstOnline() int {
	return firstScored(t.loader.Batches(), t.Config.Batch(t.Net.Config().MIL)*t.Net.Config().Classes)
}

// firstScored is the batch in the middle of an epoch, or a later one if that would give more scores than are
// kept. Batches come in random order, so the last ones are a random sample.
func firstScored(batches, scoresOfBatch int) int {
	return max((batches+1)/2, batches-max(1, onlineScores/scoresOfBatch))
}

// newOnline has room for the logits of the bags that are scored.
func (t *Trainer) newOnline() *scorer {
	bags := min(t.Data.Len(), (t.loader.Batches()-t.firstOnline())*t.Config.Batch(t.Net.Config().MIL))
	s := newLogitScorer(t.Net, bags)
	s.rates.kept = t.ranks.many
	return s
}

// scoreOnline scores the bags of this step before the net learns from them, if requested and if they are in
// the second half of the first epoch. By then the net has learned from other bags, but not from these. There
// is no dropout.
func (t *Trainer) scoreOnline() error {
	if t.Online == nil || t.at.Epoch != 1 {
		return nil
	}
	for _, batch := range t.held {
		if batch.Number < t.firstOnline() {
			continue
		}
		if t.online == nil {
			t.online = t.newOnline()
		}
		if batch.N == 0 { // this rank has no part of it
			continue
		}
		values, err := t.scoreNow(batch)
		if err == nil {
			err = t.online.add(batch, values)
		}
		if err != nil {
			return fmt.Errorf("online scores of step %d: %w", t.at.Step+1, err)
		}
	}
	return nil
}

// scoreNow scores a batch and waits for it.
func (t *Trainer) scoreNow(batch *loader.Batch) (values [][]float32, err error) {
	plan, err := t.Net.Plan(batch.T, batch.N, true)
	if err != nil {
		return nil, err
	}
	if err := t.feed.take(plan, batch); err != nil { // it is taken once more when the net learns from it
		return nil, err
	}
	if err := t.Net.Normalize(plan); err != nil {
		return nil, err
	}
	if err := t.Net.Forward(plan, false); err != nil {
		return nil, err
	}
	list, err := t.online.outputs(plan)
	if err != nil {
		return nil, err
	}
	for _, result := range list {
		host := make([]float32, result.Len())
		if err := t.Net.Backend().Download(hostOver(host), result); err != nil {
			return nil, err
		}
		values = append(values, host)
	}
	return values, nil
}

// giveOnline hands the online scores over at the end of the first epoch.
func (t *Trainer) giveOnline(ctx context.Context) error {
	if t.Online == nil || t.at.Epoch != 1 {
		return nil
	}
	if err := t.gatherOnline(); err != nil {
		return err
	}
	if t.online == nil {
		return fmt.Errorf("training: no online scores: the first epoch of %q has %d batches, whose second half is "+
			"scored before it is learned from",
			t.Data.Name, t.loader.Batches())
	}
	bad := t.loader.Bad(0)
	if t.ranks.many {
		bad = t.ranks.bad
	}
	scores, err := t.online.scores(bad)
	if err == nil {
		err = t.Online(ctx, scores)
	}
	return t.ranks.agree(err)
}

// onlineTensors are the scores not handed out yet, which a checkpoint must keep.
func (t *Trainer) onlineTensors() []safetensors.Tensor {
	if t.online == nil || t.at.Epoch != 1 {
		return nil
	}
	n, k := len(t.online.index), t.online.classes
	index := make([]int64, n)
	for i, bag := range t.online.index {
		index[i] = int64(bag)
	}
	return []safetensors.Tensor{
		{Name: onlineLogits, DType: safetensors.F32, Shape: []int{n, k}, Data: t.online.logits[:n*k]},
		{Name: onlineIndex, DType: safetensors.I64, Shape: []int{n}, Data: index},
	}
}

// resumeOnline takes them back.
func (t *Trainer) resumeOnline(p Position, file *safetensors.File) error {
	t.online = nil
	if t.Online == nil || p.Epoch != 1 {
		return nil
	}
	if !file.Has(onlineLogits) {
		if p.Batch > t.firstOnline() {
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
	s := t.newOnline()
	if len(shape) != 2 || len(rows) != 1 || rows[0] > s.capacity || shape[0] != rows[0] || shape[1] != s.classes {
		return fmt.Errorf("its online scores are %v of %v samples: %w", shape, rows, ErrCorrupt)
	}
	for i, bag := range index {
		if bag < 0 || bag >= int64(t.Data.Len()) {
			return fmt.Errorf("its online score %d belongs to sample %d of %d: %w", i, bag, t.Data.Len(), ErrCorrupt)
		}
		s.index = append(s.index, int(bag))
	}
	s.common = len(s.index)
	copy(s.logits, logits)
	t.online = s
	return nil
}
