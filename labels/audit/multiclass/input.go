package multiclass

import (
	"fmt"
	"math"
	"strconv"

	"nmn/eval"
	"nmn/format/table"
	"nmn/labels"
)

// Input holds the scores and labels of N rows and K classes. It is not changed.
type Input struct {
	Rows, Classes int
	Scores        []float32 // N×K probabilities of a classifier that has not learned the label, out-of-fold
	Labels        []int32   // N, the class that each row is labelled with, from 0; table.UnknownClass is left out
	Truth         []int32   // N, true classes; nil if unknown
	Words, IDs    []string  // names of classes and rows; nil for their numbers
	// Column and Named are the form of the file of labels, for corrected ones.
	Column string
	Named  bool
}

// Word is the name of a class, or its number as the labels have it.
func (in *Input) Word(class int) string {
	if in.Words == nil {
		return strconv.Itoa(class)
	}
	return in.Words[class]
}

// ID is the name of a row, or its number, counted from 1.
func (in *Input) ID(row int) string {
	return labels.Name(in.IDs, row)
}

func (in *Input) known() []int32 {
	out := make([]int32, 0, in.Rows)
	for i, z := range in.Labels {
		if z != table.UnknownClass {
			out = append(out, int32(i))
		}
	}
	return out
}

// HasForm reports whether the labels are one class for each row, and the scores a column for each class. It
// returns false for files that cannot be read; reading them in full finds the place of the error.
func HasForm(f eval.Files) bool {
	labels, err := table.Columns(f.Labels)
	if err != nil || labels != 1 {
		return false
	}
	scores, err := table.Columns(f.Scores)
	return err == nil && scores > 1
}

// sumSlack is how far from 1 the probabilities of a row may sum up, for they may have been rounded.
const sumSlack = .02

// readFiles reads scores, labels and, if named, true labels. Log-odds become probabilities by softmax. Errors
// about content wrap the errors of package table.
func readFiles(f eval.Files) (*Input, error) {
	scores, err := table.ReadScores(f.Scores, f.Logits)
	if err != nil {
		return nil, err
	}
	in := &Input{Rows: scores.Rows, Classes: scores.Cols, Scores: scores.Values, Words: scores.Words, IDs: scores.IDs}
	for _, file := range []struct {
		path string
		to   *[]int32
	}{{f.Labels, &in.Labels}, {f.Truth, &in.Truth}} {
		if file.path == "" {
			continue
		}
		labels, err := table.ReadClasses(file.path, scores.Words, scores.Cols, file.to == &in.Labels)
		if err != nil {
			return nil, err
		}
		if *file.to, err = labels.For(scores); err != nil {
			return nil, err
		}
		if in.IDs == nil {
			in.IDs = labels.IDs
			scores.IDs = labels.IDs
		}
		if file.to == &in.Labels {
			in.Column, in.Named = labels.Column, labels.Named
		}
	}
	return in, in.normalise(f.Scores, f.Logits)
}

// normalise makes probabilities of the scores of each row.
func (in *Input) normalise(file string, logits bool) error {
	for i := range in.Rows {
		row, sum := in.Scores[i*in.Classes:(i+1)*in.Classes], 0.0
		if logits {
			softmax(row)
		}
		for c, p := range row {
			if !(p >= 0 && p <= 1) {
				return fmt.Errorf("%s: row %d, column %d: score %v, want a probability from 0 to 1 (set `scores.logits` "+
					"if the scores are logits): %w", file, i+1, c+1, p, table.ErrValue)
			}
			sum += float64(p)
		}
		if math.Abs(sum-1) > sumSlack {
			return fmt.Errorf("%s: row %d: the scores sum up to %.4g, want 1: with one label for each sample the classes "+
				"exclude each other; if they do not, give one column of 0 and 1 for each class: %w", file, i+1, sum, table.ErrValue)
		}
	}
	return nil
}

func softmax(row []float32) {
	top := math.Inf(-1)
	for _, o := range row {
		top = max(top, float64(o))
	}
	sum := 0.0
	for _, o := range row {
		sum += math.Exp(float64(o) - top)
	}
	for c, o := range row {
		row[c] = float32(math.Exp(float64(o)-top) / sum)
	}
}

// check names what is wrong with the input; errors wrap eval.ErrShape or eval.ErrValue.
func (in *Input) check() error {
	if in.Rows < 1 || in.Classes < 2 || len(in.Scores)/in.Classes != in.Rows || len(in.Scores)%in.Classes != 0 ||
		len(in.Labels) != in.Rows || in.Truth != nil && len(in.Truth) != in.Rows {
		return fmt.Errorf("audit of classes: %d scores, %d labels and %d true labels for %d rows × %d classes: %w",
			len(in.Scores), len(in.Labels), len(in.Truth), in.Rows, in.Classes, eval.ErrShape)
	}
	for i, p := range in.Scores {
		if !(p >= 0 && p <= 1) {
			return fmt.Errorf("audit of classes: row %s: score %v: %w", in.ID(i/in.Classes), p, eval.ErrValue)
		}
	}
	if in.Rows > 0 && len(in.known()) == 0 {
		return fmt.Errorf("audit of classes: no label of %d rows is known: %w", in.Rows, eval.ErrValue)
	}
	for k, labels := range [][]int32{in.Labels, in.Truth} {
		for i, z := range labels {
			if unknown := z == table.UnknownClass && k == 0; !unknown && (z < 0 || int(z) >= in.Classes) {
				return fmt.Errorf("audit of classes: row %s: class %d of %d: %w", in.ID(i), z, in.Classes, eval.ErrValue)
			}
		}
	}
	return nil
}
