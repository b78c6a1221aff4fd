package run

import (
	"cmp"
	"context"
	"path/filepath"

	"nmn/loader"
	"nmn/recipe"
	"nmn/run/folder"
	"nmn/train"
)

func (r *armRun) judge() *recipe.Judge {
	return &recipe.Judge{Arm: r.config.Arm, Data: r.data, Loader: r.config.Loader(),
		Batch: r.config.Train.Batch(r.config.Net.MIL), Log: r.session.Log, Group: r.session.Ranks.group}
}

// Prepare makes the folder of a recipe, or takes the one of the same run. The recipe is that of all arms of a group,
// and its folder has the configuration of stage 1.
func (r *armRun) Prepare(ctx context.Context, dir string) error {
	first := r.config
	first.Arm = recipe.Stage1
	f := r.folder()
	f.dir, f.kind, f.config = dir, ofRecipe, &first
	return f.prepare(ctx)
}

// TrainNet trains a net that the recipe asks for.
func (r *armRun) TrainNet(ctx context.Context, t recipe.Training) (err error) {
	run := *r
	run.config.Arm, run.config.Train = recipe.Stage1, t.Config
	run.data, run.Dir, run.From, run.name, run.keep = t.Data, t.Dir, t.From, t.Title, t.Evaluated
	plan := &recipe.Plan{Config: t.Config, Data: t.Data, Targets: t.Targets, Evidence: t.Evidence, Online: t.Online}
	if err := r.session.Ranks.Save(ctx, func() error { return folder.Claim(run.Dir, isRunFile) }); err != nil {
		return err
	}
	s, err := run.openStage(ctx, t.Arm, plan, nil)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, s.close()) }()
	_, err = s.trainer.Run(ctx)
	_, err = run.endStage(ctx, s, err)
	return err
}

// Score computes the logits of every bag of a set by the last checkpoint of a folder.
func (r *armRun) Score(ctx context.Context, dir string, set *loader.Set) (logits []float32, err error) {
	net, _, err := train.OpenNet(filepath.Join(dir, train.LastName), r.session.Backend)
	if err := r.session.Ranks.agree(err); err != nil {
		return nil, err
	}
	defer func() { err = cmp.Or(err, net.Close()) }()
	l := r.config.Loader()
	l.BatchSize = r.config.Train.Batch(r.config.Net.MIL)
	scores, err := train.ScoreTogether(ctx, r.session.Ranks.group, net, set, l, nil)
	if err != nil {
		return nil, err
	}
	return scores.LogitsOf(set.Len()), nil
}
