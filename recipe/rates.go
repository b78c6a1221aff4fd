package recipe

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"nmn/eval"
	"nmn/format/table"
	"nmn/internal/durable"
	"nmn/labels/audit"
	"nmn/labels/rates"
	"nmn/model"
	"nmn/report"
	"nmn/train"
)

// Files of a recipe's folder, which nmn rates and nmn audit read.
const (
	ScoresFile      = "oof.csv"       // out-of-fold logits, for rates
	NoisyScoresFile = "oof-noise.csv" // of nets that were trained through the noise model, for an audit with rates.csv
	LabelsFile      = "labels.csv"
	TruthFile       = "truth.csv" // where it is known
	RatesFile       = "rates.csv"
	SuspectsFile    = "audit.csv"
	PageFile        = "recipe.md"
)

// Estimate trains the nets of folds on the labels as they are, or goes on after an interruption, estimates the rates
// from their scores of bags that they have not seen, and keeps both in the folder, in ScoresFile and RatesFile.
func (r *Recipe) Estimate(ctx context.Context) error {
	if r.plain != nil {
		return nil
	}
	round, err := r.plainFolds(ctx)
	if err != nil {
		return err
	}
	return r.find(ctx, round)
}

// plainFolds trains the nets of folds on the labels as they are.
func (r *Recipe) plainFolds(ctx context.Context) (*round, error) {
	return r.folds(ctx, PlainRound, model.NoNoise, r.Settings.Train)
}

// find estimates the rates from the scores of bags that were not learned before, and says and keeps them.
func (r *Recipe) find(ctx context.Context, round *round) (err error) {
	if r.Settings.Exclusive {
		return r.findClasses(ctx, round)
	}
	set := r.scored
	in := rates.Input{Bags: set.Len(), Classes: set.Vocabulary.Len(), Scores: round.logits, Labels: set.Labels.Uint8s(),
		Words: set.Vocabulary.Texts(), IDs: set.IDs}
	o := rates.DefaultOptions()
	if v := r.Data.Verified; v != nil {
		o.Verified = rates.Verify(v.Bags, v.Truth, r.Data.Train.Labels.Uint8s(), in.Classes, round.bags)
	}
	if r.found, err = rates.Estimate(ctx, in, o); err != nil {
		return err
	}
	if r.Settings.Recipe.Floor {
		if r.found, r.floor, err = rates.RaiseToFloor(ctx, in, r.found, o); err != nil {
			return err
		}
	}
	r.plain = round
	r.announce()
	return r.Save(ctx, func() error {
		if durable.Exists(filepath.Join(r.Dir, NoisyScoresFile)) {
			return nil // another arm has written it, with more in it
		}
		return r.write(ScoresFile, round, true)
	})
}

// throughRates trains the nets of folds once more, through the noise model of the rates that were found.
func (r *Recipe) throughRates(ctx context.Context) (err error) {
	if r.noisy != nil {
		return nil
	}
	if r.noisy, err = r.folds(ctx, NoisyRound, model.FeatureIndependent, r.held(r.Settings.Train)); err != nil {
		return err
	}
	r.Log.Info("folds trained through the noise model", "best_epoch", r.noisy.best, "loss", r.noisy.loss[r.noisy.best-1])
	if r.Settings.Exclusive {
		return nil
	}
	return r.Save(ctx, func() error { return r.write(NoisyScoresFile, r.noisy, false) })
}

// setThreshold finds the threshold from logits of p(y=1) of nets that have not learned the bags.
func (p *Plan) setThreshold(logits []float32, from string) error {
	theta, err := eval.PlugInThreshold(logits, true)
	p.Threshold, p.thresholdFrom = &theta, from
	return err
}

// announce reports the result: one line for the user, and each word in the log.
func (r *Recipe) announce() {
	for _, c := range r.found.Classes {
		r.Log.Info("noise rates", "class", c.Word, "q01", c.Q01, "q10", c.Q10, "trained_with", c.Trainable(), "believed",
			c.Usable(), "remarks", c.Diagnoses)
	}
	r.Log.Info("rates estimated", "q01", r.found.PooledQ01, "q10", r.found.PooledQ10, "samples", r.found.Bags, "epoch",
		r.plain.best)
	r.Message("rates", joinLines(r.remarks()))
}

func joinLines(lines []string) string { return strings.Join(lines, "\n        ") }

// unestimated are the words that are given no rates, each with the reason.
func (r *Recipe) unestimated() map[string]string {
	if r.found == nil {
		return nil
	}
	words := map[string]string{}
	for c, class := range r.found.Classes {
		if why := class.NotEstimated(); why != "" {
			words[r.scored.Vocabulary.Word(c).Text] = "not estimated: " + string(why)
		}
	}
	return words
}

// source says which scores of a number of bags the estimate is from.
func (r *Recipe) source(bags int) string {
	if r.plain.loss == nil {
		return fmt.Sprintf("the scores of %d %s before they were learned", bags, r.Data.Train.Noun())
	}
	return fmt.Sprintf("out-of-fold scores after epoch %d of %d", r.plain.best, len(r.plain.loss))
}

// remarks sum the estimate up, for people at a terminal and for pages alike. Where no noise was found, or none can be,
// they say so.
func (r *Recipe) remarks() []string {
	if r.classes != nil {
		return r.classRemarks()
	}
	enough := func(c rates.Class) bool { return !slices.Contains(c.Diagnoses, rates.TooFew) }
	if !slices.ContainsFunc(r.found.Classes, enough) {
		return []string{report.TooFewText(len(r.found.Classes)) + "; their labels are taken as they are"}
	}
	lines := []string{fmt.Sprintf("q01 %.3f, q10 %.4f over all labels, from %s", r.found.PooledQ01, r.found.PooledQ10,
		r.source(r.found.Bags))}
	if r.Settings.Recipe.Floor {
		lines = append(lines, fmt.Sprintf("raised to at least q01 %.3f, q10 %.4f, as far as the labels let them",
			r.floor.Q01, r.floor.Q10))
	}
	unknown, weak, clean := 0, 0, 0
	for _, c := range r.found.Classes {
		switch {
		case !c.Trainable():
			unknown++
		case !c.Usable():
			weak++
		case c.Q01Interval.Low == 0 && c.Q10Interval.Low == 0:
			clean++
		}
	}
	k := len(r.found.Classes)
	if unknown > 0 {
		lines = append(lines, fmt.Sprintf("%d of %d labels: the scores do not show their noise; their labels are taken as "+
			"they are", unknown, k))
	}
	if weak > 0 {
		lines = append(lines, fmt.Sprintf("%d of %d labels: the scores show little of their noise; they get nearly the "+
			"rates of all labels, to train with and not for an audit", weak, k))
	}
	if clean > 0 {
		lines = append(lines, fmt.Sprintf("%d of %d labels: rates cannot be distinguished from 0. Their labels are clean, "+
			"or their noise depends on how hard each of the %s is, which scores cannot show", clean, k, r.Data.Train.Noun()))
	}
	if r.found.Unidentified() {
		lines = append(lines, report.CheckText)
	}
	if n := len(r.plain.loss); n > 0 && r.plain.best == n {
		lines = append(lines, fmt.Sprintf("the out-of-fold loss still falls at epoch %d: more `recipe.fold_epochs` may do "+
			"better", r.plain.best))
	}
	return lines
}

// write keeps the scores of a round with all that nmn rates and nmn audit need. Scores of nets without a noise
// model are calibrated for the audit. Scores of the other nets predict the true label already.
func (r *Recipe) write(name string, round *round, calibrate bool) error {
	set := r.scored
	in := audit.Input{Bags: set.Len(), Classes: set.Vocabulary.Len(), Logits: round.logits, Labels: set.Labels.Uint8s(),
		Words: set.Vocabulary.Texts(), IDs: set.IDs}
	in.FromEstimate(r.found)
	if !calibrate {
		in.A, in.B = nil, nil
	}
	if set.Truth != nil {
		in.Truth = set.Truth.Uint8s()
		if err := audit.WriteLabels(filepath.Join(r.Dir, TruthFile), in, in.Truth); err != nil {
			return err
		}
	}
	found, err := audit.Run(in, .5)
	if err != nil {
		return err
	}
	var scores bytes.Buffer
	if err := WriteScoreTable(&scores, in.Words, in.IDs, round.logits); err != nil {
		return err
	}
	page, err := r.page()
	if err != nil {
		return err
	}
	if err := r.saveFiles([]named{{name, scores.Bytes()}, {PageFile, page}}); err != nil {
		return err
	}
	if err := audit.WriteSuspectsFile(filepath.Join(r.Dir, SuspectsFile), in, found.Suspects); err != nil {
		return err
	}
	if err := audit.WriteLabels(filepath.Join(r.Dir, LabelsFile), in, in.Labels); err != nil {
		return err
	}
	return r.found.WriteFile(filepath.Join(r.Dir, RatesFile))
}

// named is a file of the recipe's folder; one without content is not written.
type named struct {
	name    string
	content []byte
}

func (r *Recipe) saveFiles(files []named) error {
	for _, file := range files {
		if file.content == nil {
			continue
		}
		if err := durable.Save(filepath.Join(r.Dir, file.name), file.content); err != nil {
			return err
		}
	}
	return nil
}

// page shows the estimate and the losses that chose the epochs.
func (r *Recipe) page() ([]byte, error) {
	set := r.scored
	truth, err := train.TrueRates(set)
	if err != nil {
		return nil, err
	}
	table := report.RateEstimateTable(r.found, truth, nil)
	table.Notes = append(table.Notes, r.remarks()...)
	tables := []*report.Table{table}
	if r.plain.loss != nil {
		tables = append(tables, report.FoldLossTable("Out-of-fold loss on the noisy labels, classifier alone",
			r.plain.loss, r.plain.best))
	}
	if r.noisy != nil {
		tables = append(tables, report.FoldLossTable("The same, trained through the noise model", r.noisy.loss,
			r.noisy.best))
	}
	var b bytes.Buffer
	err = report.Write(&b, report.Markdown, tables...)
	return b.Bytes(), err
}

// WriteScoreTable writes a row for each bag, named in the first column, and a column for each word.
func WriteScoreTable(w io.Writer, words, ids []string, scores []float32) error {
	out, k := table.NewWriter[float32](w, words, true), len(words)
	for row, id := range ids {
		if err := out.Write(id, scores[row*k:(row+1)*k]); err != nil {
			return err
		}
	}
	return out.Flush()
}
