package recipe

import (
	"cmp"
	"context"
	"fmt"

	dense "gorgonia.org/tensor"

	"nmn/loader/dataset"
	"nmn/report"
	"nmn/train"
)

// Plan is what the net of an arm is trained with, and what is known before it is trained.
type Plan struct {
	Config       train.Config
	Data         *dataset.Splits // that are learned
	Targets      *dense.Dense    // soft, or unknown; nil for the labels
	Evidence     *dense.Dense    // in place of both, log-likelihood ratios of what was observed; nil for none
	From         string          // checkpoint that stage 2 starts from instead of that of stage 1; empty for that
	Files        []string        // of the recipe's folder, which say what the plan is
	Stage1Epochs int             // epochs of stage 1 that this training includes, where their number is fixed
	// Threshold is the probability from which a label is predicted for the best expected F1. It is found
	// from the out-of-fold probabilities; nil if there are none.
	Threshold     *float64
	thresholdFrom string // what they are called
	// Online takes the scores of the first epoch; nil if they are not needed.
	Online func(context.Context, *train.Scores) error
	// Unestimated are the words whose noise model holds no estimated rates, each with a remark. RateRemarks
	// sum the estimate up. Both are nil if the net does not hold rates of the recipe.
	Unestimated map[string]string
	RateRemarks []string
	Captions    *report.FoundCaptions // holds the findings about captions; nil if they were not examined
	// audit reports how well the out-of-fold probabilities find the wrong labels; nil without such
	// probabilities or without truth.
	audit *report.AuditFigures
}

type planner struct {
	Plan
	settings *Settings
	recipe   *Recipe // nil for the paper's plain form
	trainer  Trainer
	dir      string // folder of the run, for what the arm trains before
	start    string // checkpoint of stage 1, for arms that go on from it
}

// MakePlan finds what the arm of the settings is trained with: as its configuration says, and by the recipe where
// there is one. dir is the folder of the run, and from the checkpoint of stage 1 that it goes on from, if any.
func MakePlan(ctx context.Context, s *Settings, r *Recipe, t Trainer, data *dataset.Splits,
	dir, from string) (*Plan, error) {
	p := &planner{Plan: Plan{Config: s.Train, Data: data, Evidence: data.Evidence}, settings: s, recipe: r, trainer: t,
		dir: dir, start: from}
	e, ok := s.Arm.Arm()
	if !ok {
		return nil, fmt.Errorf("there is no arm %q", s.Arm)
	}
	if s.Folds() > 0 {
		if err := r.Estimate(ctx); err != nil {
			return nil, err
		}
		p.Files = append(p.Files, FoldsFile, ScoresFile, s.EstimateFile())
		if e.Rival {
			p.Config.Stage1Epochs = r.stage1Epochs()
		}
	}
	if e.Rival {
		p.Config = BothStages(p.Config)
		if p.Config.Patience == 0 {
			p.Stage1Epochs = p.Config.Stage1Epochs - p.Config.Stage2Epochs
		}
	}
	p.Config.Loss = e.LossOf(p.Config.Loss)
	if e.Learned && s.Recipe.Start {
		if err := p.startRates(ctx); err != nil {
			return nil, err
		}
	}
	if e.plan == nil {
		return &p.Plan, nil
	}
	return &p.Plan, e.plan(p, ctx)
}

// BothStages is the training of a fresh net for as long as both stages.
func BothStages(c train.Config) train.Config {
	c.Stage1Epochs += c.Stage2Epochs
	c.MaxSteps *= 2 // a limit of each stage
	return c
}

// onlineRates reports whether rates come from scores of the first epoch of stage 1.
func (p *planner) onlineRates() bool {
	return p.settings.Estimates() && p.settings.NoiseRates == Online
}

// stage1 ends the classifier alone at the epoch that the folds have found, or keeps the scores of its first epoch.
func (p *planner) stage1(context.Context) error {
	switch {
	case p.settings.Folds() > 0:
		p.Config.Stage1Epochs, p.Config.Patience = p.recipe.stage1Epochs(), 0
		if err := p.outOfFold(p.recipe.plain.logits, false); err != nil {
			return err
		}
	case p.onlineRates():
		p.Online = p.recipe.keepOnline
	}
	if p.Config.Patience == 0 {
		p.Stage1Epochs = p.Config.Stage1Epochs
	}
	return nil
}

// stage1Epochs is the epoch at which the nets of folds explain labels best, or all of theirs if they learned nothing.
func (r *Recipe) stage1Epochs() int {
	if r.classes != nil && r.classes.Chance {
		return len(r.plain.loss)
	}
	return r.plain.best
}

// heldRates plans HeldRates: the likelihood of the labels through the held noise model.
func (p *planner) heldRates(ctx context.Context) error {
	switch {
	case p.settings.Folds() > 0:
		return p.throughNoise(ctx)
	case p.onlineRates():
		if err := p.recipe.estimateOnline(ctx); err != nil {
			return err
		}
		p.Files = append(p.Files, p.settings.EstimateFile())
		p.holdEstimate()
		if p.settings.Exclusive {
			break
		}
		if err := p.setThreshold(p.recipe.found.Calibrated(p.recipe.plain.logits), fromOnline); err != nil {
			return err
		}
	case p.settings.Estimates(): // rates of a file are in the configuration
		hold(&p.Config.Noise, p.Config.Noise.Q01, p.Config.Noise.Q10)
	}
	if p.settings.Recipe.Epochs > 0 {
		p.limit(p.settings.Recipe.Epochs)
	}
	return nil
}

// startRates starts a noise model at the mean rates of all classes. The rates of a single class are learned, and need
// not be known: with much noise, scores show few of them.
func (p *planner) startRates(ctx context.Context) error {
	if p.onlineRates() {
		if err := p.recipe.estimateOnline(ctx); err != nil {
			return err
		}
		p.Files = append(p.Files, p.settings.EstimateFile())
	}
	q := p.recipe.found
	p.Config.Noise.Q01, p.Config.Noise.Q10 = heldRates([]float64{q.PooledQ01}), heldRates([]float64{q.PooledQ10})
	return nil
}

// throughNoise plans HeldRates with folds, for as many epochs as nets of folds say that are trained so.
func (p *planner) throughNoise(ctx context.Context) error {
	r := p.recipe
	p.holdEstimate()
	scores := r.plain.logits
	if r.found != nil {
		scores = r.found.Calibrated(scores)
	}
	if p.settings.Recipe.Epochs > 0 {
		p.limit(p.settings.Recipe.Epochs)
	} else {
		if err := r.throughRates(ctx); err != nil {
			return err
		}
		if !p.settings.Exclusive {
			p.Files = append(p.Files, NoisyScoresFile)
		}
		p.limit(max(1, r.noisy.best-r.plain.best))
		scores = r.noisy.logits
	}
	return p.outOfFold(scores, true)
}

// softLabels plans SoftLabels: what is believed of each label, given the score of the net that has not seen it, is the
// target of the classifier. The net cannot confirm its own memory.
func (p *planner) softLabels(ctx context.Context) error {
	r := p.recipe
	if err := r.throughRates(ctx); err != nil {
		return err
	}
	p.Files = append(p.Files, NoisyScoresFile)
	p.holdEstimate()
	p.limit(cmp.Or(p.settings.Recipe.Epochs, softEpochs))
	p.Targets = r.beliefs()
	return p.outOfFold(r.noisy.logits, true)
}

// baselineEarly goes back to the epoch with the least loss on the noisy labels of the validation set. Without
// one, nets of folds have shown how many epochs that takes.
func (p *planner) baselineEarly(context.Context) error {
	c := &p.Config
	switch {
	case p.Data.Validation != nil:
		c.Patience = cmp.Or(c.Patience, max(c.Stage1Epochs, c.MaxSteps)) // to the limit, and back
		c.EvaluateEpochs, c.EvaluateSteps, c.KeepBest, c.BestBy = 1, 0, max(c.KeepBest, 1), "loss"
	case p.settings.Folds() > 0:
		c.Stage1Epochs, c.Patience, p.Stage1Epochs = p.recipe.plain.best, 0, p.recipe.plain.best
	default:
		return p.settings.Fits(p.Data)
	}
	return nil
}

// forward holds the rates of the recipe, or the rates of a file.
func (p *planner) forward(ctx context.Context) error {
	if p.onlineRates() {
		if err := p.recipe.estimateOnline(ctx); err != nil {
			return err
		}
	}
	if p.onlineRates() || p.settings.Folds() > 0 {
		p.holdEstimate()
	}
	hold(&p.Config.Noise, p.Config.Noise.Q01, p.Config.Noise.Q10)
	return nil
}

func (p *planner) forwardTrue(context.Context) error {
	q, err := train.TrueRates(p.Data.Train)
	if err == nil && q == nil {
		err = fmt.Errorf("the true labels of %s are not known", p.Data.Train.Name)
	}
	if err != nil {
		return err
	}
	hold(&p.Config.Noise, heldRates(q.Q01), heldRates(q.Q10))
	return nil
}

// pruned leaves out the labels that the out-of-fold audit finds wrong.
func (p *planner) pruned(ctx context.Context) error {
	if err := p.recipe.throughRates(ctx); err != nil {
		return err
	}
	p.Targets = p.recipe.pruned()
	return nil
}

func (p *planner) clean(context.Context) error {
	p.Data = p.Data.WithTrueLabels()
	return nil
}

// holdEstimate holds the rates of the recipe, and keeps the remarks on them.
func (p *planner) holdEstimate() {
	p.Config = p.recipe.held(p.Config)
	p.Unestimated, p.RateRemarks = p.recipe.unestimated(), p.recipe.remarks()
}

// limit sets the epochs of stage 2, which then end it.
func (p *Plan) limit(epochs int) { p.Config.Stage2Epochs, p.Config.Patience = epochs, 0 }

// outOfFold sets what follows from out-of-fold logits: the threshold, and how well the wrong labels are found.
// If held, the logits predict the true label, and labels are doubted through the held rates.
func (p *planner) outOfFold(logits []float32, held bool) (err error) {
	set := p.recipe.Data.Train
	if !p.settings.Exclusive { // whose prediction is the most probable class
		err = p.setThreshold(logits, fromOutOfFold)
	}
	if err != nil || set.Truth == nil {
		return err
	}
	if c := p.recipe.classes; c != nil {
		p.audit = auditOfClasses(c.Judgement)
		return nil
	}
	var q01, q10 []float32
	if held {
		n := p.recipe.held(p.Config).Noise
		q01, q10 = n.Q01, n.Q10
	}
	s, z, k := &labelScores{}, set.Labels.Uint8s(), set.Vocabulary.Len()
	for bag := range set.Len() {
		s.add(bag, z[bag*k:(bag+1)*k], logits[bag*k:(bag+1)*k], q01, q10)
	}
	p.audit, err = s.audit(set, false, fromOutOfFold)
	return err
}
