package train

import (
	"cmp"
	"slices"

	"nmn/loader/picture"
)

// save writes last.safetensors if anything has changed since the last save, and keeps it as the best if the last
// validation found it so. If the disk is full, it waits a moment.
func (t *Trainer) save() error {
	return t.saveTogether(func() error { return t.keeper.Finish(t.state, observers(t.Observers)) })
}

// trySave is save while training continues: a full disk does not end it.
func (t *Trainer) trySave() error {
	return t.saveTogether(func() error { return t.keeper.Try(t.state(), observers(t.Observers)) })
}

// saveTogether saves on all ranks, whose weights must be equal. If it fails on one rank, the stage ends on
// all.
func (t *Trainer) saveTogether(save func() error) error {
	if t.Directory == "" {
		return nil
	}
	if err := t.ranks.sameWeights(t.Net, t.at.Step); err != nil {
		return err
	}
	if err := t.online.gather(t.at); err != nil {
		return err
	}
	return t.ranks.agree(save())
}

// state is the stage as it is now. Tensors are read from the net when they are written.
func (t *Trainer) state() State[Checkpoint] {
	about := &Checkpoint{
		Format:   CheckpointFormat,
		Model:    t.Net.Config(),
		Words:    t.identity.words,
		Data:     t.identity.data,
		Stage:    t.Stage,
		Start:    t.Start,
		Config:   t.Config,
		Position: t.at,
		Updates:  t.optimizer.updates,
		Best:     t.keeper.best,
	}
	about.Backbone, about.Clips, about.Columns = t.Backbone, t.Clips, t.Data.Columns
	if l := t.Loader; t.Net.Config().Input == 0 {
		about.Pictures = &Pictures{l.Fit, cmp.Or(l.Resize, picture.FilterBilinear),
			cmp.Or(l.Orientation, picture.OrientationIgnore)}
	}
	return State[Checkpoint]{Epoch: t.at.Epoch, Step: t.at.Step, Position: t.at, About: about, Tensors: slices.Concat(
		t.optimizer.withAverages(t.Net.Weights()), t.optimizer.Moments(), t.online.tensors(t.at))}
}
