package train

import (
	"context"
	"fmt"
	"io"

	"nmn/loader"
	"nmn/loader/augment"
	"nmn/model"
)

// inOrder runs a net over a set in order, without labels, and shows each batch with the plan that it went
// through. It returns the bags that could not be read; with none left that is an error.
func inOrder(ctx context.Context, net *model.Net, set *loader.Set, config loader.Config,
	each func(*loader.Batch, *model.Plan) error) ([]loader.BadSample, error) {
	if err := fits(net, set); err != nil {
		return nil, err
	}
	config.Standard = standardOf(net)
	config.Size, config.Targets, config.Evidence = net.Config().Size, nil, nil
	config.Flip, config.Shuffle, config.DropLast, config.Augment = false, false, false, augment.Config{}
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
	for bags := 0; ; {
		batch, err := epoch.Next(ctx)
		if err == io.EOF {
			bad := l.Bad(0)
			if bags == 0 && len(bad) > 0 {
				return nil, fmt.Errorf("none of %d pictures could be read, the first for: %w", set.Len(), bad[0].Err)
			}
			return bad, nil
		}
		if err != nil {
			return nil, err
		}
		plan, err := forward(net, batch)
		if err == nil {
			err = each(batch, plan)
		}
		if err != nil {
			return nil, err
		}
		bags += batch.N
		batch.Release()
	}
}

// forward brings a batch through a net, without dropout.
func forward(net *model.Net, batch *loader.Batch) (*model.Plan, error) {
	plan, err := net.Plan(batch.T, batch.N, false)
	if err != nil {
		return nil, err
	}
	if err := upload(net.Backend(), plan, batch, false); err != nil {
		return nil, err
	}
	if err := net.Normalize(plan); err != nil {
		return nil, err
	}
	return plan, net.Forward(plan, false)
}
