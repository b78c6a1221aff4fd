package recipe

import (
	"context"
	"path/filepath"
	"strings"

	dense "gorgonia.org/tensor"

	"nmn/internal/rng"
	"nmn/labels/misplaced"
	"nmn/loader"
	"nmn/loader/dataset"
	"nmn/report"
	"nmn/train"
)

// CaptionsFolder is the folder, below that of a run, of what arm caption-filter finds from the captions that it
// keeps.
const CaptionsFolder = "captions"

const (
	netFolder = "net" // of a stage 1 that went on with the captions kept, in the folder of their recipe
	// keepFrom is the probability from which a caption is kept.
	keepFrom = .5
	// evidenceFrom is the share of foreign captions from which all captions are learned as evidence: too few bags would
	// be left with any, and too many of those kept would be foreign.
	evidenceFrom = .5
	// memorised is the share of the foreign captions that scores must find at least, of those that scores find which know
	// nothing of a bag's labels. Scores that know them by heart take foreign captions for the bag's own.
	memorised = .8
)

// witnessed is what was found of the captions of a group.
type witnessed struct {
	*misplaced.Result
	input misplaced.Input
	kept  *loader.Set // nil if nothing is left out: after a refusal, or if all captions are learned as evidence
	// unsaid is the share of each class that the kept captions leave out, estimated from their repeats; nil
	// if no captions are left out.
	unsaid []float64
	found  *report.FoundCaptions // for people
}

// captions plans CaptionFilter. Captions that belong to other bags are left out. Stage 1 goes on with the kept
// captions for as many epochs again, and stage 2 goes on from there through the rates of the labels that these
// captions leave out. What stage 1 has learned from foreign captions fades; a net that starts afresh loses two
// points of AP. If most captions are foreign, all of them are learned as evidence, weighted by the probability
// that they belong to their bags. If foreign captions cannot be distinguished, the arm is HeldRates.
func (p *planner) captions(ctx context.Context) error {
	w, err := p.recipe.witness(ctx, filepath.Dir(p.start))
	if err != nil {
		return err
	}
	p.Captions = w.found
	switch {
	case w.Refusal != "":
		return p.heldRates(ctx)
	case w.kept == nil:
		return p.captionEvidence(ctx, w)
	}
	kept := p.recipe.on(p.Data.WithTrain(w.kept), filepath.Join(p.dir, CaptionsFolder))
	kept.unsaid = w.unsaid
	if p.From, err = kept.goOnKept(ctx, p.start); err != nil {
		return err
	}
	p.Data, p.recipe = kept.data, kept
	return p.heldRates(ctx)
}

// on is a recipe for other data, with a folder of its own.
func (r *Recipe) on(data *dataset.Splits, dir string) *Recipe {
	return New(Options{Settings: r.settings, Data: data, Dir: dir, Trainer: r.trainer, Log: r.log, Message: r.message})
}

// goOnKept has stage 1 go on from a checkpoint on the captions kept, with what the rates are estimated from.
func (r *Recipe) goOnKept(ctx context.Context, from string) (checkpoint string, err error) {
	t := Training{Config: r.settings.Train, Data: r.data}
	if r.settings.Folds() > 0 {
		if err := r.estimate(ctx); err != nil {
			return "", err
		}
		t.Config.Stage1Epochs, t.Config.Patience = r.plain.best, 0
	} else {
		t.Online = r.keepOnline
	}
	return r.goOn(ctx, netFolder, from, t)
}

// goOn has stage 1 go on from a checkpoint for as long again, in a folder of that name.
func (r *Recipe) goOn(ctx context.Context, name, from string, t Training) (checkpoint string, err error) {
	if err := r.trainer.Prepare(ctx, r.dir); err != nil {
		return "", err
	}
	t.Title, t.Dir, t.From = "stage 1 on the captions", filepath.Join(r.dir, name), from
	if t.Arm, err = Baseline.ForTraining(r.settings.MIL); err != nil {
		return "", err
	}
	t.Config.Stage2Epochs, t.Config.KeepBest = t.Config.Stage1Epochs, 0
	return filepath.Join(t.Dir, train.LastName), r.trainer.TrainNet(ctx, t)
}

// captionEvidence has stage 1 go on with what captions say as evidence, judges the captions once more by its scores,
// and has stage 2 learn what they say then. Where captions cannot be judged but by scores, better scores are worth as
// many epochs again.
func (p *planner) captionEvidence(ctx context.Context, w *witnessed) error {
	first := p.recipe.on(p.Data, filepath.Join(p.dir, CaptionsFolder))
	nets := []string{netFolder}
	if w.ByScores {
		nets = append(nets, netFolder+"-2")
	}
	p.From = p.start
	for _, net := range nets {
		t := Training{Config: p.recipe.settings.Train, Data: p.Data}
		var err error
		if t.Evidence, err = w.evidence(ctx); err != nil {
			return err
		}
		if p.From, err = first.goOn(ctx, net, p.From, t); err != nil {
			return err
		}
		again := misplaced.Input{Classes: w.input.Classes, Captions: w.input.Captions}
		if again.Scores, err = p.trainer.Score(ctx, filepath.Dir(p.From), p.Data.Train); err != nil {
			return err
		}
		better, err := p.recipe.judge(ctx, again)
		if err != nil {
			return err
		}
		if better.Refusal == "" {
			w = better
		}
	}
	var err error
	p.Evidence, err = w.evidence(ctx)
	return err
}

// evidence is what the captions of each bag say, bags × classes.
func (w *witnessed) evidence(ctx context.Context) (*dense.Dense, error) {
	e, err := w.Evidence(ctx)
	if err != nil {
		return nil, err
	}
	return dense.New(dense.WithShape(len(w.input.Captions), w.input.Classes), dense.WithBacking(e)), nil
}

// witness judges the captions of the group, by each other and by scores. The scores come from nets of folds, or else
// from stage 1 at its end, in the given folder, unless that net has learned the labels by heart.
func (r *Recipe) witness(ctx context.Context, stage1 string) (*witnessed, error) {
	if r.judged != nil {
		return r.judged, nil
	}
	set := r.data.Train
	in := misplaced.Input{Classes: set.Vocabulary.Len(), Captions: set.CaptionsInUse}
	var w *witnessed
	if r.settings.Folds() > 0 {
		round, err := r.plainFolds(ctx)
		if err != nil {
			return nil, err
		}
		in.Scores = round.logits
		if w, err = r.judge(ctx, in); err != nil {
			return nil, err
		}
	} else {
		var err error
		if w, err = r.witnessOnline(ctx, in, stage1); err != nil {
			return nil, err
		}
	}
	if w.Refusal == "" && w.Foreign < evidenceFrom {
		var err error
		if w.kept, err = set.OfCaptions(set.Name+", captions kept", w.Kept(keepFrom)); err != nil {
			return nil, err
		}
		if w.unsaid, err = misplaced.Unsaid(ctx, w.kept.CaptionsInUse, w.kept.Vocabulary.Len()); err != nil {
			return nil, err
		}
	}
	w.found = r.foundCaptions(ctx, w)
	r.judged = w
	r.message("witness", strings.Join(w.found.Lines(), "\n        "))
	return w, nil
}

// witnessOnline judges by the scores of stage 1 at its end. What the scores of its first epoch find, which come from
// before each bag was learned, shows whether it has learned the labels by heart.
func (r *Recipe) witnessOnline(ctx context.Context, in misplaced.Input, stage1 string) (*witnessed, error) {
	var err error
	if in.Scores, in.Scored, err = r.onlineScores(); err != nil {
		return nil, err
	}
	first, err := r.judge(ctx, in)
	if err != nil {
		return nil, err
	}
	in.Scored = nil
	if in.Scores, err = r.trainer.Score(ctx, stage1, r.data.Train); err != nil {
		return nil, err
	}
	last, err := r.judge(ctx, in)
	if err != nil {
		return nil, err
	}
	byHeart := first.Refusal == "" && last.Foreign < memorised*first.Foreign
	r.log.Info("captions judged", "foreign_by_first_epoch", first.Foreign, "foreign_by_last", last.Foreign,
		"by_heart", byHeart)
	if last.Refusal != "" || byHeart {
		return first, nil
	}
	return last, nil
}

// judge judges captions.
func (r *Recipe) judge(ctx context.Context, in misplaced.Input) (*witnessed, error) {
	o := misplaced.DefaultOptions()
	o.Seed = rng.Derive(r.settings.Train.Seed, "recipe/captions")
	found, err := misplaced.Find(ctx, in, o)
	return &witnessed{Result: found, input: in}, err
}
