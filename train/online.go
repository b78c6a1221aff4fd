package train

import (
	"context"
	"fmt"

	"nmn/safetensors"
)

// Names of the tensors in which a checkpoint within the first epoch keeps online scores.
const (
	onlineLogits = "online.logits"
	onlineIndex  = "online.index"
)

// scoreOnline scores the bags of the step at hand before the net learns from them, where it is asked for
// and they are of the second half of the first epoch: by then the net knows something, and nothing of
// them. No dropout.
func (t *Trainer) scoreOnline() error {
	if t.Online == nil || t.at.Epoch != 1 {
		return nil
	}
	for _, batch := range t.held {
		if batch.Number < (t.loader.Batches()+1)/2 {
			continue
		}
		if t.online == nil {
			t.online = newScorer(t.Net, t.Data.Len())
		}
		plan, err := forward(t.Net, batch)
		if err == nil {
			err = t.online.add(batch, plan)
		}
		if err != nil {
			return fmt.Errorf("online scores of step %d: %w", t.at.Step+1, err)
		}
	}
	return nil
}

// giveOnline hands the online scores over at the end of the first epoch.
func (t *Trainer) giveOnline(ctx context.Context) error {
	if t.Online == nil || t.at.Epoch != 1 {
		return nil
	}
	if t.online == nil {
		return fmt.Errorf("training: no online scores: the first epoch of %q has %d batches, whose second half is scored before it is learned from", t.Data.Name, t.loader.Batches())
	}
	scores, err := t.online.scores(t.loader.Bad(0))
	if err == nil {
		err = t.Online(ctx, scores)
	}
	return err
}

// onlineTensors are what a checkpoint must keep of scores that nobody has been given yet.
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
func (t *Trainer) resumeOnline(c *checkpointFile) error {
	t.online = nil
	p := c.Position
	if t.Online == nil || p.Epoch != 1 {
		return nil
	}
	if !c.file.Has(onlineLogits) {
		if p.Batch > (t.loader.Batches()+1)/2 {
			return fmt.Errorf("it was saved in the first epoch without online scores: %w", ErrOtherRun)
		}
		return nil
	}
	logits, shape, err := c.file.Float32(onlineLogits)
	if err != nil {
		return err
	}
	index, rows, err := c.file.Int64(onlineIndex)
	if err != nil {
		return err
	}
	s := newScorer(t.Net, t.Data.Len())
	if len(shape) != 2 || len(rows) != 1 || rows[0] > t.Data.Len() || shape[0] != rows[0] || shape[1] != s.classes {
		return fmt.Errorf("its online scores are %v of %v bags: %w", shape, rows, ErrCorrupt)
	}
	for i, bag := range index {
		if bag < 0 || bag >= int64(t.Data.Len()) {
			return fmt.Errorf("its online score %d is of bag %d of %d: %w", i, bag, t.Data.Len(), ErrCorrupt)
		}
		s.index = append(s.index, int(bag))
	}
	copy(s.logits, logits)
	t.online = s
	return nil
}
