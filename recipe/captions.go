package recipe

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"

	dense "gorgonia.org/tensor"

	"nmn/internal/durable"
	"nmn/internal/rng"
	"nmn/labels/misplaced"
	"nmn/labels/rates/crossfit"
	"nmn/loader"
	"nmn/report"
	"nmn/train"
)

// CaptionsFolder is the folder of nets that learn captions. A run has it for arm caption-filter, and a recipe for
// folds and halves.
const CaptionsFolder = "captions"

// CaptionScoresFile is the file of a recipe's folder with the out-of-fold logits that judge captions.
const CaptionScoresFile = "oof-captions.csv"

const (
	netFolder  = "net" // of a stage 1 that went on with what the captions say, in CaptionsFolder
	doubtBelow = .5    // the probability to belong to its picture below which a caption counts as foreign
	// memorised is the share of the foreign captions that scores must find at least, of those that scores find which know
	// nothing of a bag's labels. Scores that know them by heart take foreign captions for the bag's own.
	memorised = .8
	halves    = 2 // of the bags, whose nets judge captions if most bags have few
)

// witnessed is what was found of the captions of a group.
type witnessed struct {
	*misplaced.Result
	input misplaced.Input
	// outOfFold is set if nets that learned the captions of other bags as evidence have made the scores.
	outOfFold bool
	found     *report.FoundCaptions // for people
}

// captions plans CaptionFilter. All captions are learned as evidence, weighted by the probability that they belong to
// their bags. Stage 1 goes on with it for as many epochs again, since a net that starts afresh loses two points of AP.
// Its scores judge the captions once more, and stage 2 learns what they say then. If scores of learned bags judge
// most captions alone, better ones are worth as many epochs again. If foreign captions cannot be distinguished, the arm
// is HeldRates.
func (p *planner) captions(ctx context.Context) error {
	w, err := p.recipe.witness(ctx, filepath.Dir(p.start))
	if err != nil {
		return err
	}
	p.Captions = w.found
	if w.Refusal != "" {
		return p.heldRates(ctx)
	}
	nets := []string{netFolder}
	if w.ByScores && !w.outOfFold {
		nets = append(nets, netFolder+"-2")
	}
	p.From = p.start
	for _, net := range nets {
		if err := p.goOn(ctx, net, w); err != nil {
			return err
		}
		if !w.outOfFold { // else scores of bags that were learned would judge worse
			if w, err = p.judgedAgain(ctx, w); err != nil {
				return err
			}
		}
	}
	if p.settings.Recipe.Epochs > 0 {
		p.limit(p.settings.Recipe.Epochs)
	}
	p.Evidence, err = p.recipe.evidence(ctx, w)
	return err
}

// goOn has stage 1 go on from p.From, which becomes the new net, with what the captions say.
func (p *planner) goOn(ctx context.Context, net string, w *witnessed) error {
	dir := filepath.Join(p.dir, CaptionsFolder)
	if err := p.trainer.Prepare(ctx, dir); err != nil {
		return err
	}
	t := Training{Config: p.recipe.Settings.Train, Data: p.Data, Title: "stage 1 on the captions",
		Dir: filepath.Join(dir, net), From: p.From}
	if p.settings.Folds() > 0 {
		t.Config.Stage1Epochs, t.Config.Patience = p.recipe.plain.best, 0
	}
	t.Config.Stage2Epochs, t.Config.KeepBest = t.Config.Stage1Epochs, 0
	var err error
	if t.Arm, err = Baseline.ForTraining(p.settings.MIL); err != nil {
		return err
	}
	if t.Evidence, err = p.recipe.evidence(ctx, w); err != nil {
		return err
	}
	p.From = filepath.Join(t.Dir, train.LastName)
	return p.trainer.TrainNet(ctx, t)
}

// judgedAgain judges the captions by the scores of the net that went on. A refusal leaves the judgement as it was.
func (p *planner) judgedAgain(ctx context.Context, w *witnessed) (*witnessed, error) {
	again := misplaced.Input{Classes: w.input.Classes, Captions: w.input.Captions}
	var err error
	if again.Scores, err = p.trainer.Score(ctx, filepath.Dir(p.From), p.Data.Train); err != nil {
		return nil, err
	}
	better, err := p.recipe.judge(ctx, again)
	if err != nil || better.Refusal != "" {
		return w, err
	}
	return better, nil
}

// evidence is what the captions of each bag say, bags × classes.
func (r *Recipe) evidence(ctx context.Context, w *witnessed) (*dense.Dense, error) {
	e, err := w.Evidence(ctx)
	if err == nil {
		err = r.anchor(ctx, e)
	}
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
	w, err := r.judgeAll(ctx, stage1)
	if err != nil {
		return nil, err
	}
	w.found = r.foundCaptions(ctx, w)
	r.judged = w
	r.Message("witness", joinLines(w.found.Lines()))
	return w, nil
}

// JudgeCaptions judges the captions of the training bags by nets of folds, which it trains or goes on with, and keeps
// the scores that judge them in the folder, in CaptionScoresFile.
func (r *Recipe) JudgeCaptions(ctx context.Context) error {
	_, err := r.judgeAll(ctx, "")
	return err
}

// judgeAll is witness without a report.
func (r *Recipe) judgeAll(ctx context.Context, stage1 string) (*witnessed, error) {
	set := r.Data.Train
	in := misplaced.Input{Classes: set.Vocabulary.Len(), Captions: set.CaptionsInUse}
	var w *witnessed
	epochs := r.Settings.Train.Stage1Epochs
	if r.Settings.Folds() > 0 {
		round, err := r.plainFolds(ctx)
		if err != nil {
			return nil, err
		}
		in.Scores, epochs = round.logits, round.best
		if w, err = r.judge(ctx, in); err != nil {
			return nil, err
		}
	} else {
		var err error
		if w, err = r.witnessOnline(ctx, in, stage1); err != nil {
			return nil, err
		}
	}
	if w.Refusal == "" && fewCaptions(in.Captions) {
		var err error
		if w, err = r.witnessOutOfFold(ctx, w, epochs); err != nil {
			return nil, err
		}
	}
	if r.Settings.Folds() == 0 && !w.outOfFold {
		return w, nil
	}
	return w, r.saveCaptionScores(ctx, w)
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
	if in.Scores, err = r.Trainer.Score(ctx, stage1, r.Data.Train); err != nil {
		return nil, err
	}
	last, err := r.judge(ctx, in)
	if err != nil {
		return nil, err
	}
	byHeart := first.Refusal == "" && last.Foreign < memorised*first.Foreign
	r.Log.Info("captions judged", "foreign_by_first_epoch", first.Foreign, "foreign_by_last", last.Foreign,
		"by_heart", byHeart)
	if last.Refusal != "" || byHeart {
		return first, nil
	}
	return last, nil
}

// fewCaptions reports whether bags have so few captions that scores judge nearly all of them.
func fewCaptions(captions [][][]int32) bool {
	few := 0
	for _, of := range captions {
		if len(of) <= misplaced.MostByScores {
			few++
		}
	}
	return 2*few > len(captions)
}

// CaptionEpochs is how many epochs of stage 1 take as long as JudgeCaptions at most. A net of a fold also scores the
// fold after each epoch, which takes about a third of the time to learn it.
func (s Settings) CaptionEpochs(captions [][][]int32) float64 {
	epochs := (float64(s.Folds()-1) + 1./3) * float64(s.Recipe.foldEpochs())
	if fewCaptions(captions) {
		epochs *= 2
	}
	return epochs
}

// witnessOutOfFold judges the captions by scores of bags that a net has not learned: nets learn what the captions of
// the other folds say, and score their own fold. Without folds there are two halves. A net that has learned a caption
// takes it for the bag's own. If the scores of such a net judge alone, the share of foreign captions is wrong.
func (r *Recipe) witnessOutOfFold(ctx context.Context, w *witnessed, epochs int) (*witnessed, error) {
	evidence, err := w.Evidence(ctx)
	if err != nil {
		return nil, err
	}
	name, dealt := "half", func(ctx context.Context) (*crossfit.Plan, error) { return r.deal(ctx, halves) }
	if r.Settings.Folds() > 0 {
		name, dealt = "fold", r.foldPlan
	}
	plan, err := dealt(ctx)
	if err != nil {
		return nil, err
	}
	arm, err := Stage1.ForTraining(r.Settings.MIL)
	if err != nil {
		return nil, err
	}
	in := misplaced.Input{Classes: w.input.Classes, Captions: w.input.Captions}
	in.Scores, err = plan.Gather(in.Classes, func(number int) ([]float32, error) {
		t := Training{Title: fmt.Sprintf("%s %d of the captions", name, number+1), Arm: arm, Config: r.Settings.Train,
			Dir: r.foldDir(CaptionsFolder, number)}
		t.Config.Seed = rng.Derive(t.Config.Seed, fmt.Sprintf("recipe/%s/fold%d", CaptionsFolder, number+1))
		t.Config.Stage1Epochs, t.Config.Patience, t.Config.KeepBest = epochs, 0, 0
		data := *r.Data
		learned := plan.Training(number)
		var err error
		if data.Train, err = loader.Subset(r.Data.Train, t.Title, learned); err != nil {
			return nil, err
		}
		other, err := loader.Subset(r.Data.Train, t.Title+", held out", plan.HeldOut(number))
		if err != nil {
			return nil, err
		}
		t.Data, t.Evidence = &data, rowsOf(evidence, learned, in.Classes)
		if err := r.Trainer.TrainNet(ctx, t); err != nil {
			return nil, err
		}
		return r.Trainer.Score(ctx, t.Dir, other)
	})
	if err != nil {
		return nil, err
	}
	better, err := r.judge(ctx, in)
	if err != nil || better.Refusal != "" {
		return w, err
	}
	better.outOfFold = true
	return better, nil
}

// saveCaptionScores keeps the scores that judge the captions, for nmn audit captions.
func (r *Recipe) saveCaptionScores(ctx context.Context, w *witnessed) error {
	var b bytes.Buffer
	set := r.Data.Train
	if err := WriteScoreTable(&b, set.Vocabulary.Texts(), set.IDs, w.input.Scores); err != nil {
		return err
	}
	return r.Save(ctx, func() error { return durable.Save(filepath.Join(r.Dir, CaptionScoresFile), b.Bytes()) })
}

// rowsOf copies rows of a matrix of k columns.
func rowsOf(matrix []float32, rows []int, k int) *dense.Dense {
	out := make([]float32, 0, len(rows)*k)
	for _, n := range rows {
		out = append(out, matrix[n*k:(n+1)*k]...)
	}
	return dense.New(dense.WithShape(len(rows), k), dense.WithBacking(out))
}

func (r *Recipe) judge(ctx context.Context, in misplaced.Input) (*witnessed, error) {
	o := misplaced.DefaultOptions()
	o.Seed = rng.Derive(r.Settings.Train.Seed, "recipe/captions")
	found, err := misplaced.Find(ctx, in, o)
	return &witnessed{Result: found, input: in}, err
}
