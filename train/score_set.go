package train

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"nmn/loader"
	"nmn/loader/augment"
	"nmn/model"
)

// noneLeft is an error if no bag of a set could be read.
func noneLeft(set *loader.Set, bags int, bad []loader.BadSample) error {
	if bags == 0 && len(bad) > 0 {
		return loader.NoneUsable(set, bad[0].Err)
	}
	return nil
}

// inOrder runs a net over the batches of config.Share of a set in order, without labels. It calls each with every batch
// and the values that outputs lists, which are valid until each returns. It returns the number of bags that could be
// read, and the bags that could not be read.
func inOrder(ctx context.Context, net *model.Net, set *loader.Set, config loader.Config, outputs outputs,
	each func(*loader.Batch, [][]float32) error) (bags int, bad []loader.BadSample, err error) {
	s, err := openScoring(ctx, net, set, config, outputs)
	if err != nil {
		return 0, nil, err
	}
	return s.through(ctx, each)
}

// scoring is a pass over the batches of a set that this process reads.
type scoring struct {
	pass   runner
	loader *loader.Loader
	epoch  *loader.Epoch
}

// runner runs batches through a net.
type runner interface {
	// begin begins the work on a batch, and finish waits for the results of the oldest batch that was begun. They hold
	// until the next begin.
	begin(*loader.Batch) error
	finish(*loader.Batch) ([][]float32, error)
	// overlaps reports whether a batch may begin before the one before it is finished.
	overlaps() bool
	close() error
}

// openScoring begins to read the batches of config.Share.
func openScoring(ctx context.Context, net *model.Net, set *loader.Set, config loader.Config,
	outputs outputs) (_ *scoring, err error) {
	if err := fits(net, set); err != nil {
		return nil, err
	}
	config.Standard = standardOf(net)
	config.Size, config.Targets, config.Evidence = net.Config().Size, nil, nil
	config.Flip, config.Shuffle, config.Augment = false, false, augment.Config{}
	p, err := newPass(net, outputs, set.Len() > config.BatchSize*max(1, config.Share.Ranks))
	if err != nil {
		return nil, err
	}
	opened := &scoring{pass: p}
	defer func() {
		if err != nil {
			_ = opened.close() // it follows from the error
		}
	}()
	config.Memory = p.feed.memory()
	if opened.loader, err = loader.New(set, config); err != nil {
		return nil, err
	}
	if classes := opened.loader.Classes(); classes != net.Config().Classes {
		return nil, fmt.Errorf("training: the labels of %q have %d classes, the net has %d: %w",
			set.Name, classes, net.Config().Classes, ErrOtherModel)
	}
	opened.epoch, err = opened.loader.Epoch(ctx, 0, 0)
	return opened, err
}

// close ends the loader's workers, which write into memory of the feed, and then the pass.
func (s *scoring) close() error {
	if s.epoch != nil {
		s.epoch.Close()
	}
	return s.pass.close()
}

// through visits all batches, and closes their reader. If the device can, it uploads batch n+1 while it computes batch
// n, and enqueues the work on n+1 before the host waits for the results of batch n. The device then never waits for the
// host.
func (s *scoring) through(ctx context.Context, each func(*loader.Batch, [][]float32) error) (bags int,
	bad []loader.BadSample, err error) {
	bags, err = s.run(ctx, each)
	bad = s.loader.Bad(0)
	return bags, bad, cmp.Or(err, s.close())
}

func (s *scoring) run(ctx context.Context, each func(*loader.Batch, [][]float32) error) (bags int, err error) {
	var before *loader.Batch // its work is enqueued
	finish := func() error {
		if before == nil {
			return nil
		}
		batch := before
		before = nil
		values, err := s.pass.finish(batch)
		if err == nil {
			err = each(batch, values)
		}
		if err != nil {
			return err
		}
		bags += batch.N
		batch.Release()
		return nil
	}
	for {
		var batch *loader.Batch
		err := ctx.Err() // the loader may have another batch ready
		if err == nil {
			batch, err = s.epoch.Next(ctx)
		}
		if err == nil {
			err = s.pass.begin(batch)
		}
		// The batch before is shown whatever has come of this one, as if it had been waited for at once.
		if finishing := finish(); finishing != nil {
			return bags, finishing
		}
		if err == io.EOF {
			return bags, nil
		}
		if err != nil {
			return bags, err
		}
		if before = batch; s.pass.overlaps() {
			continue
		}
		if err := finish(); err != nil {
			return bags, err
		}
	}
}
