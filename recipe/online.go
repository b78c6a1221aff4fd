package recipe

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"

	"nmn/format/safetensors"
	"nmn/loader"
	"nmn/train"
)

// OnlineFile is the file of a recipe's folder with the scores of rates online.
const (
	OnlineFile  = "online.safetensors" // scores of the first epoch of stage 1
	onlineIndex = "index"              // tensor with the bag of each row
)

// keepOnline keeps the scores that stage 1 gives.
func (r *Recipe) keepOnline(ctx context.Context, s *train.Scores) error {
	if err := r.Trainer.Prepare(ctx, r.Dir); err != nil {
		return err
	}
	index := make([]int64, len(s.Index))
	for i, bag := range s.Index {
		index[i] = int64(bag)
	}
	return r.Save(ctx, func() error {
		_, err := safetensors.WriteFile(filepath.Join(r.Dir, OnlineFile), nil, []safetensors.Tensor{
			{Name: logitsName, DType: safetensors.F32, Shape: s.Logits.Shape(), Data: s.Logits.Float32s()},
			{Name: onlineIndex, DType: safetensors.I64, Shape: []int{len(index)}, Data: index},
		})
		return err
	})
}

// estimateOnline estimates the rates from the scores that stage 1 has left.
func (r *Recipe) estimateOnline(ctx context.Context) error {
	if r.plain != nil {
		return nil
	}
	logits, index, err := r.onlineScores()
	if err != nil {
		return err
	}
	scored, err := loader.Subset(r.Data.Train, r.Data.Train.Name+", scored online", index)
	if err != nil {
		return err
	}
	if r.scored, err = loader.Hold(ctx, scored); err != nil {
		return err
	}
	return r.find(ctx, &round{best: 1, logits: logits, bags: index})
}

// onlineScores reads the scores that stage 1 has left, and the bag of each row.
func (r *Recipe) onlineScores() (logits []float32, index []int, err error) {
	path := filepath.Join(r.Dir, OnlineFile)
	if logits, index, err = ReadOnline(path); err != nil {
		return nil, nil, fmt.Errorf("online scores, which stage 1 writes: %w; remove the folder of stage 1 to train it again",
			err)
	}
	if want := len(index) * r.Data.Train.Vocabulary.Len(); len(logits) != want {
		return nil, nil, fmt.Errorf("%s: %d logits, want %d", path, len(logits), want)
	}
	return logits, index, nil
}

// ReadOnline reads the scores that stage 1 of a run with rates online has left in an OnlineFile, and the training bag
// of each row. An error wraps fs.ErrNotExist if there are none.
func ReadOnline(path string) (logits []float32, index []int, err error) {
	file, err := safetensors.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = cmp.Or(err, file.Close()) }()
	if logits, _, err = file.Float32(logitsName); err != nil {
		return nil, nil, err
	}
	bags, _, err := file.Int64(onlineIndex)
	for _, bag := range bags {
		index = append(index, int(bag))
	}
	return logits, index, err
}
