package main

import (
	"context"

	"nmn/eval"
	"nmn/labels/audit"
	"nmn/labels/rates"
	"nmn/loader"
	"nmn/model"
	"nmn/report"
	"nmn/train"
)

// judgement is what an arm is worth: on the judged set, and in finding the wrong labels of the training
// set.
type judgement struct {
	Evaluation *eval.Result `json:"evaluation"`
	// PlugInFrom names the probabilities that the threshold of the best expected F1 was found from.
	PlugInFrom string `json:"plug_in_from,omitempty"`
	// Audit is nil where the true labels of the training set are not known.
	Audit *report.AuditFigures `json:"audit,omitempty"`
}

// judgementForm goes into the fingerprint of runs: a result with other measures than today's is judged
// again, without training.
const judgementForm = "threshold from training, audit"

// Sources of thresholds and audits, as tables name them.
const (
	fromOutOfFold = "out-of-fold"
	fromOnline    = "first epoch" // of stage 1, before it learned the bag
	fromOwn       = "own scores"
)

// auditPrecisionAt is the number of suspects whose precision is told.
const auditPrecisionAt = 1000

// judge evaluates the net of an arm. No label has a part in the threshold: it is that of out-of-fold
// probabilities where the plan has them, else of the net's own on the validation set, else on that of
// training. The scores are those of the judged set.
func (r *armRun) judge(ctx context.Context, net *model.Net, plan *stagePlan) (*judgement, *train.Scores, error) {
	j := &judgement{Audit: plan.audit}
	l := r.config.loader()
	l.BatchBags = r.config.Train.Batch(net.Config().MIL)
	var own *labelScores
	audit := r.data.train.Truth != nil && plan.audit == nil && r.config.Arm != armClean // which was told
	if audit || plan.threshold == nil && r.data.validation == nil {
		var err error
		if own, err = scoreLabels(ctx, net, r.data.train, l); err != nil {
			return nil, nil, err
		}
	}
	if audit {
		var err error
		if j.Audit, err = own.audit(r.data.train, fromOwn); err != nil {
			return nil, nil, err
		}
	}
	theta, from, err := r.cut(ctx, net, plan, own, l)
	if err != nil {
		return nil, nil, err
	}
	j.PlugInFrom = from
	set, _ := r.data.judged()
	result, scores, err := evaluateNet(ctx, r.program, net, set, r.data.train, l, l.BatchBags, eval.Options{PlugIn: theta})
	j.Evaluation = result
	return j, scores, err
}

// cut finds the threshold and tells where from.
func (r *armRun) cut(ctx context.Context, net *model.Net, plan *stagePlan, own *labelScores, l loader.Config) (theta float64, from string, err error) {
	if plan.threshold != nil {
		return *plan.threshold, plan.thresholdFrom, nil
	}
	logits, from := []float32(nil), "training"
	if v := r.data.validation; v != nil {
		scores, err := train.Score(ctx, net, v, l)
		if err != nil {
			return 0, "", err
		}
		logits, from = scores.Logits.Float32s(), "validation"
	} else {
		logits = own.logits
	}
	theta, err = eval.PlugInThreshold(logits, true)
	return theta, from, err
}

// labelScores are what a net says about the labels of the set that it was trained on.
type labelScores struct {
	index  []int     // of the bags that could be read
	logits []float32 // of p(y=1|I)
	doubts []float32 // log-odds that a label is wrong, through the noise model where there is one
}

func scoreLabels(ctx context.Context, net *model.Net, set *loader.Set, l loader.Config) (*labelScores, error) {
	s := &labelScores{}
	labels, k := set.Labels.Uint8s(), set.Vocabulary.Len()
	_, err := train.EachScore(ctx, net, set, l, func(bag int, logits, q01, q10 []float32) {
		s.add(bag, labels[bag*k:(bag+1)*k], logits, q01, q10)
	})
	return s, err
}

// add takes the logits of a bag with its labels, and the noise rates of its classes; these are nil where
// none are known, and doubts then order labels as |z - p| does.
func (s *labelScores) add(bag int, labels []uint8, logits, q01, q10 []float32) {
	s.index = append(s.index, bag)
	s.logits = append(s.logits, logits...)
	for c, z := range labels {
		doubt := float64(logits[c])
		if q01 != nil {
			doubt += rates.LabelLogOdds(z, float64(q01[c]), float64(q10[c]))
		}
		if z == 1 {
			doubt = -doubt
		}
		s.doubts = append(s.doubts, float32(doubt))
	}
}

// audit holds the doubts against the truth of the set.
func (s *labelScores) audit(set *loader.Set, from string) (*report.AuditFigures, error) {
	k := set.Vocabulary.Len()
	gathered := func(all []uint8) []uint8 {
		out := make([]uint8, 0, len(s.doubts))
		for _, bag := range s.index {
			out = append(out, all[bag*k:(bag+1)*k]...)
		}
		return out
	}
	ranking, err := audit.Rank(s.doubts, gathered(set.Labels.Uint8s()), gathered(set.Truth.Uint8s()), []int{auditPrecisionAt})
	return &report.AuditFigures{AP: ranking.AP, IncorrectAP: ranking.IncorrectAP, MissingAP: ranking.MissingAP,
		At1000: ranking.PrecisionAt[auditPrecisionAt], From: from}, err
}
