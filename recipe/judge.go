package recipe

import (
	"context"
	"log/slog"
	"math"

	"nmn/eval"
	"nmn/labels/audit"
	"nmn/labels/rates"
	"nmn/loader"
	"nmn/loader/dataset"
	"nmn/model"
	"nmn/ranks"
	"nmn/report"
	"nmn/train"
)

// Judgement is what an arm is worth: on the judged set, and in finding the wrong labels of the training set.
type Judgement struct {
	Evaluation *eval.Result `json:"evaluation"` // has thresholds and rates but no measures if NotMeasured is not empty
	// NotMeasured says why there are no measures; empty if there are some.
	NotMeasured string `json:"not_measured,omitempty"`
	// PlugInFrom names the probabilities that the threshold of the best expected F1 was found from.
	PlugInFrom string `json:"plug_in_from,omitempty"`
	// RateRemarks sum up the estimate of the noise rates that the net holds, in the words of the message
	// that the user read; nil if the net holds none.
	RateRemarks []string `json:"rate_remarks,omitempty"`
	// RatesHeld says that the net learned through rates that were held, and none were renewed on the way.
	RatesHeld bool `json:"rates_held,omitempty"`
	// Transition is the matrix that the net learned through if classes exclude each other, with a row for each
	// true class; nil for none, and above 200 classes.
	Transition [][]eval.Number `json:"transition,omitempty"`
	// Captions holds the findings about captions before training; nil if they were not examined.
	Captions *report.FoundCaptions `json:"captions,omitempty"`
	Audit    *report.AuditFigures  `json:"audit,omitempty"` // nil where the true labels of the training set are not known
}

// JudgementForm goes into the fingerprint of runs: a result with other measures than today's is judged
// again, without training.
const JudgementForm = "threshold from training, audit, held-out measures"

// Sources of thresholds and audits, as tables name them.
const (
	fromOutOfFold = "out-of-fold"
	fromOnline    = "first epoch" // of stage 1, before it learned the bag
	FromOwn       = "own scores"
)

// notHeldOut says why a net that was trained on everything has no measures: it may know each answer by heart.
const notHeldOut = "nothing was held out from training, and a model is not measured on what it has learned"

// auditPrecisionAt is the number of suspects whose precision is reported.
const auditPrecisionAt = 1000

// Judge evaluates nets of an arm.
type Judge struct {
	Arm    Name
	Data   *dataset.Splits // with the labels as they are, whatever was learned
	Loader loader.Config
	Batch  int // bags that are scored at once
	Log    *slog.Logger
	Group  ranks.Group // the ranks that score together; nil for this process alone
}

// Judge evaluates a net. The judged labels have no part in the threshold: it comes from out-of-fold
// probabilities if the plan has them, else from the net's own on the validation set, else from its own on the
// training set. The scores belong to the judged set.
func (j *Judge) Judge(ctx context.Context, net *model.Net, plan *Plan) (*Judgement, *train.Scores, error) {
	out := &Judgement{Audit: plan.audit, RateRemarks: plan.RateRemarks, RatesHeld: plan.Config.Noise.Frozen && j.Arm != EM,
		Captions: plan.Captions}
	l := j.Loader
	l.BatchSize = j.Batch
	var own *labelScores
	audit := j.Data.Train.Truth != nil && plan.audit == nil && j.Arm != Clean // which has learned the truth
	exclusive := net.Config().Exclusive
	if audit || plan.Threshold == nil && j.Data.Validation == nil && !exclusive {
		var err error
		if own, err = scoreLabels(ctx, j.Group, net, j.Data.Train, l); err != nil {
			return nil, nil, err
		}
	}
	if audit {
		var err error
		if out.Audit, err = own.audit(j.Data.Train, exclusive, FromOwn); err != nil {
			return nil, nil, err
		}
	}
	theta, from := .5, ""
	if !exclusive {
		var err error
		if theta, from, err = j.threshold(ctx, net, plan, own, l); err != nil {
			return nil, nil, err
		}
	}
	out.PlugInFrom = from
	set, _ := j.Data.EvaluationSplit()
	result, scores, err := EvaluateNet(ctx, j.Group, j.Log, net, set, j.Data.Train, l, plan.Unestimated,
		eval.Options{PlugIn: theta})
	if out.Evaluation = result; err == nil {
		out.Transition = matrixOf(scores.Transition, set.Vocabulary.Len())
		out.dropMeasures(set != j.Data.Train)
	}
	return out, scores, err
}

// mostShown is the largest number of classes whose transition matrix is kept with a result.
const mostShown = 200

func matrixOf(values []float32, k int) (rows [][]eval.Number) {
	if k > mostShown {
		return nil
	}
	for ; len(values) > 0; values = values[k:] {
		row := make([]eval.Number, k)
		for z := range row {
			row[z] = eval.Number(values[z])
		}
		rows = append(rows, row)
	}
	return rows
}

// dropMeasures removes measures that show nothing and notes why: the judged set was not held out, or its scores cannot
// be ranked.
func (j *Judgement) dropMeasures(heldOut bool) {
	if j.Evaluation == nil || j.NotMeasured != "" {
		return
	}
	if j.NotMeasured = j.Evaluation.Unseparated(); j.NotMeasured != "" {
		j.NotMeasured += "; hold out more"
	}
	if !heldOut {
		j.NotMeasured = notHeldOut
	}
	if j.NotMeasured != "" {
		j.Evaluation.Unmeasure()
	}
}

func (j *Judge) threshold(ctx context.Context, net *model.Net, plan *Plan, own *labelScores,
	l loader.Config) (theta float64, from string, err error) {
	if plan.Threshold != nil {
		return *plan.Threshold, plan.thresholdFrom, nil
	}
	logits, from := []float32(nil), "training"
	if v := j.Data.Validation; v != nil {
		scores, err := train.ScoreTogether(ctx, j.Group, net, v, l, nil)
		if err != nil {
			return 0, "", err
		}
		logits, from = scores.Logits.Float32s(), "validation"
	} else {
		logits = own.Logits
	}
	theta, err = eval.PlugInThreshold(logits, true)
	return theta, from, err
}

// EvaluateNet scores a set on the ranks of g, in batches of l.BatchSize, and compares the scores with the
// labels and the truth of the set. noisy, if not nil, is the training set, whose labels and truth give the
// true noise rates. The rates of unestimated words are only the start of the noise model: they count for
// nothing, and the words get the remark instead.
func EvaluateNet(ctx context.Context, g ranks.Group, log *slog.Logger, net *model.Net, set, noisy *loader.Set,
	l loader.Config, unestimated map[string]string, o eval.Options) (*eval.Result, *train.Scores, error) {
	scores, err := train.ScoreTogether(ctx, g, net, set, l, nil)
	if err != nil {
		return nil, nil, err
	}
	for _, bad := range scores.Bad {
		log.Warn("picture left out of the evaluation", "split", set.Name, "id", bad.ID, "cause", bad.Err)
	}
	if scores.Rates != nil {
		for c, w := range set.Vocabulary.Words() {
			if unestimated[w.Text] != "" {
				scores.Rates.Q01[c], scores.Rates.Q10[c] = math.NaN(), math.NaN()
			}
		}
	}
	result, err := train.Evaluate(scores, set, noisy, o)
	if err != nil || scores.Rates == nil {
		return result, scores, err
	}
	for c := range result.Words {
		result.Words[c].RateRemark = unestimated[result.Words[c].Word]
	}
	return result, scores, nil
}

// labelScores are what a net says about the labels of the set that it was trained on.
type labelScores struct {
	Index  []int     // of the bags that could be read
	Logits []float32 // of p(y=1|I)
	Doubts []float32 // log-odds that a label is wrong, through the noise model if there is one
}

func scoreLabels(ctx context.Context, g ranks.Group, net *model.Net, set *loader.Set,
	l loader.Config) (*labelScores, error) {
	s := labelScores{}
	labels, k := set.Labels.Uint8s(), set.Vocabulary.Len()
	_, err := train.EachScore(ctx, g, net, set, l, func(bag int, logits, q01, q10 []float32) {
		s.add(bag, labels[bag*k:(bag+1)*k], logits, q01, q10)
	})
	all, err := ranks.Every(ranks.Of(g), s, err)
	if err != nil || len(all) == 1 {
		return &s, err
	}
	joined := labelScores{}
	for _, theirs := range all {
		joined.Index = append(joined.Index, theirs.Index...)
		joined.Logits = append(joined.Logits, theirs.Logits...)
		joined.Doubts = append(joined.Doubts, theirs.Doubts...)
	}
	return &joined, nil
}

// add takes the logits of a bag with its labels, and the noise rates of its classes; these are nil where
// none are known, and doubts then order labels as |z - p| does.
func (s *labelScores) add(bag int, labels []uint8, logits, q01, q10 []float32) {
	s.Index = append(s.Index, bag)
	s.Logits = append(s.Logits, logits...)
	for c, z := range labels {
		doubt := float64(logits[c])
		if q01 != nil {
			doubt += rates.LabelLogOdds(z, float64(q01[c]), float64(q10[c]))
		}
		if z == 1 {
			doubt = -doubt
		}
		s.Doubts = append(s.Doubts, float32(doubt))
	}
}

// audit compares the doubts with the truth of the set, except for unknown labels. If classes exclude each
// other, a bag has one label, which is right or wrong.
func (s *labelScores) audit(set *loader.Set, exclusive bool, from string) (*report.AuditFigures, error) {
	k := set.Vocabulary.Len()
	given, truth := set.Labels.Uint8s(), set.Truth.Uint8s()
	doubts, z, y := make([]float32, 0, len(s.Doubts)), make([]uint8, 0, len(s.Doubts)), make([]uint8, 0, len(s.Doubts))
	for row, bag := range s.Index {
		for c := range k {
			if label := given[bag*k+c]; label != loader.UnknownLabel && (label == 1 || !exclusive) {
				doubts, z, y = append(doubts, s.Doubts[row*k+c]), append(z, label), append(y, truth[bag*k+c])
			}
		}
	}
	ranking, err := audit.Rank(doubts, z, y, []int{auditPrecisionAt})
	if exclusive { // all labels are present ones
		ranking.IncorrectAP = eval.Undefined()
	}
	return &report.AuditFigures{AP: ranking.AP, IncorrectAP: ranking.IncorrectAP, MissingAP: ranking.MissingAP,
		At1000: ranking.PrecisionAt[auditPrecisionAt], From: from}, err
}
