package train

import (
	"context"
	"fmt"
	"io"

	"nmn/loader"
	"nmn/loader/augment"
	"nmn/model"
)

// inOrder runs a net over a set in order, without labels, and shows each batch with what outputs lists for it, which
// holds until each returns. It returns the bags that could not be read; with none left that is an error.
func inOrder(ctx context.Context, net *model.Net, set *loader.Set, config loader.Config, outputs outputs,
	each func(*loader.Batch, [][]float32) error) (bad []loader.BadSample, err error) {
	if err := fits(net, set); err != nil {
		return nil, err
	}
	config.Standard = standardOf(net)
	config.Size, config.Targets, config.Evidence = net.Config().Size, nil, nil
	config.Flip, config.Shuffle, config.DropLast, config.Augment = false, false, false, augment.Config{}
	p, err := newPass(net, outputs, set.Len() > config.BatchBags)
	if err != nil {
		return nil, err
	}
	defer func() { // behind the loader's workers, which write into memory of the feed
		if closing := p.close(); err == nil {
			err = closing
		}
	}()
	config.Memory = p.feed.memory()
	l, err := loader.New(set, config)
	if err != nil {
		return nil, err
	}
	if classes := l.Classes(); classes != net.Config().Classes {
		return nil, fmt.Errorf("training: the labels of %q are of %d classes, the net has %d: %w",
			set.Name, classes, net.Config().Classes, ErrOtherModel)
	}
	epoch, err := l.Epoch(ctx, 0, 0)
	if err != nil {
		return nil, err
	}
	defer epoch.Close()
	bags, err := p.run(ctx, epoch, each)
	if err != nil {
		return nil, err
	}
	bad = l.Bad(0)
	if bags == 0 && len(bad) > 0 {
		return nil, fmt.Errorf("none of %d pictures could be read, the first for: %w", set.Len(), bad[0].Err)
	}
	return bad, nil
}

// run scores the batches of an epoch. Where the device can, batch n+1 is uploaded while batch n is computed, and its
// work is enqueued before the host waits for the results of batch n: the device never waits for the host. It returns
// the number of bags.
func (p *pass) run(ctx context.Context, epoch *loader.Epoch, each func(*loader.Batch, [][]float32) error) (bags int,
	err error) {
	var before *loader.Batch // its work is enqueued
	finish := func() error {
		if before == nil {
			return nil
		}
		batch := before
		before = nil
		values, err := p.finish(batch)
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
			batch, err = epoch.Next(ctx)
		}
		if err == nil {
			err = p.begin(batch)
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
		if before = batch; p.drain != nil {
			continue
		}
		if err := finish(); err != nil {
			return bags, err
		}
	}
}
