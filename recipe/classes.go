package recipe

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"slices"

	"nmn/eval"
	"nmn/format/table"
	"nmn/labels/audit/multiclass"
	"nmn/labels/rates"
	"nmn/loader"
	"nmn/report"
)

// TransitionFile is the file of a recipe's folder with the estimated transition matrix of classes that exclude
// each other: a row for each true class, a column for each given one.
const TransitionFile = "transition.csv"

// ClassesInput makes the input of an audit of classes that exclude each other from log-odds of p(y=k), as nets
// give them, and a label for each bag of a set.
func ClassesInput(set *loader.Set, logits []float32) *multiclass.Input {
	k := set.Vocabulary.Len()
	in := &multiclass.Input{Rows: set.Len(), Classes: k, Scores: make([]float32, len(logits)),
		Words: set.Vocabulary.Texts(), IDs: set.IDs}
	for i, o := range logits {
		in.Scores[i] = float32(rates.Sigmoid(float64(o)))
	}
	classes := func(labels []uint8) []int32 {
		out := make([]int32, set.Len())
		for bag := range out {
			out[bag] = table.OnlyClass(labels[bag*k : (bag+1)*k])
		}
		return out
	}
	in.Labels = classes(set.Labels.Uint8s())
	if set.Truth != nil {
		in.Truth = classes(set.Truth.Uint8s())
		if slices.Contains(in.Truth, table.UnknownClass) {
			in.Truth = nil
		}
	}
	return in
}

// findClasses estimates the transition matrix from scores of bags that were not learned before, and keeps it.
func (r *Recipe) findClasses(ctx context.Context, round *round) error {
	o := multiclass.DefaultOptions()
	o.Plateau = true
	found, err := multiclass.Audit(ctx, ClassesInput(r.scored, round.logits), o)
	if err != nil {
		return fmt.Errorf("cannot estimate how classes are confused: %w", err)
	}
	r.plain, r.classes = round, found
	r.Log.Info("transition estimated", "noise", found.Noise.String(), "wrong", found.Pooled, "bags", found.Rows,
		"epoch", round.best)
	r.Message("rates", joinLines(r.classRemarks()))
	return r.Save(ctx, func() error { return r.writeClasses(round) })
}

// classRemarks sum the estimate up.
func (r *Recipe) classRemarks() []string {
	found := r.classes
	source := r.source(found.Rows)
	if found.Chance {
		return []string{"nothing can be found: " + source + " predict the labels no better than the shares of the " +
			"classes do.", "The labels are taken as they are. A pretrained net (`net.backbone`) or more " +
			"`recipe.fold_epochs` may do better"}
	}
	if found.Noise == multiclass.Unknown {
		return []string{"no noise was found in " + source + "; the labels are taken as they are"}
	}
	lines := []string{fmt.Sprintf("%.1f %% of the labels are wrong (%s noise), from %s", 100*found.Pooled, found.Noise,
		source)}
	type pair struct {
		from, to int
		rate     float64
	}
	var pairs []pair
	k := found.Input.Classes
	for i, t := range found.T {
		if i/k != i%k && t >= .05 {
			pairs = append(pairs, pair{i / k, i % k, t})
		}
	}
	slices.SortStableFunc(pairs, func(a, b pair) int { return cmp.Compare(b.rate, a.rate) })
	if found.Noise != multiclass.Even {
		for _, p := range pairs[:min(3, len(pairs))] {
			lines = append(lines, fmt.Sprintf("%s is labelled %s in %.0f %% of the cases", found.Word(p.from),
				found.Word(p.to), 100*p.rate))
		}
	}
	return lines
}

// auditOfClasses are the figures of an audit of one label for each bag; nil without truth.
func auditOfClasses(j *multiclass.Judgement) *report.AuditFigures {
	if j == nil {
		return nil
	}
	return &report.AuditFigures{AP: j.Posterior.AP, IncorrectAP: eval.Undefined(), MissingAP: eval.Undefined(),
		At1000: j.Posterior.PrecisionAt[auditPrecisionAt], From: fromOutOfFold}
}

// transition is the estimate in float32, with the row of the true class.
func (r *Recipe) transition() []float32 {
	t := make([]float32, len(r.classes.T))
	for i, q := range r.classes.T {
		t[i] = float32(q)
	}
	return t
}

// writeClasses keeps scores, labels and estimate, in the forms that nmn audit reads. Scores are logarithms of
// p(y=k), whose softmax is p.
func (r *Recipe) writeClasses(round *round) error {
	found := r.classes
	logs := make([]float32, len(round.logits))
	for i, o := range round.logits {
		logs[i] = -float32(rates.Softplus(-float64(o)))
	}
	var scores, page, transition bytes.Buffer
	if err := WriteScoreTable(&scores, found.Words, found.IDs, logs); err != nil {
		return err
	}
	if err := WriteScoreTable(&transition, found.Words, found.Words, r.transition()); err != nil {
		return err
	}
	if err := report.Write(&page, report.Markdown, report.ClassAuditTables(found, 0, 0)...); err != nil {
		return err
	}
	return r.saveFiles([]named{{ScoresFile, scores.Bytes()}, {PageFile, page.Bytes()}, {LabelsFile,
		classTable(found.Input, found.Labels)}, {TruthFile, classTable(found.Input, found.Truth)},
		{TransitionFile, transition.Bytes()}})
}

// classTable is a table with the class of each row, empty if unknown; nil without classes.
func classTable(in *multiclass.Input, classes []int32) []byte {
	if classes == nil {
		return nil
	}
	rows := [][]string{{"id", "label"}}
	for row, class := range classes {
		name := ""
		if class != table.UnknownClass {
			name = in.Word(int(class))
		}
		rows = append(rows, []string{in.ID(row), name})
	}
	var b bytes.Buffer
	_ = csv.NewWriter(&b).WriteAll(rows) // a buffer takes everything
	return b.Bytes()
}
