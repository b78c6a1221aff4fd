package report

import (
	"cmp"
	"fmt"
	"slices"

	"nmn/eval"
	"nmn/text"
)

type oneClassMeasure struct {
	name, meaning string
	scale         eval.Number // 100 for percent
	decimals      int
	of            func(*eval.MultiLabel) eval.Number
}

// oneClassMeasures lists the measures, the main one first.
func oneClassMeasures(samples text.Plural) []oneClassMeasure {
	return []oneClassMeasure{
		{name: "accuracy", meaning: fmt.Sprintf("Share of %v whose most probable class is the right one.", samples),
			scale: 100, decimals: 1, of: func(m *eval.MultiLabel) eval.Number { return m.OneClass.Accuracy }},
		{name: "top-5 accuracy", meaning: "Share with the right class among the five most probable ones.",
			scale: 100, decimals: 1, of: func(m *eval.MultiLabel) eval.Number { return m.OneClass.Top5 }},
		{name: "balanced accuracy", meaning: "Mean over classes of the share that is found. Every class counts equally.",
			scale: 100, decimals: 1, of: func(m *eval.MultiLabel) eval.Number { return m.OneClass.Balanced }},
		{name: "log loss", meaning: "Mean of −log p of the right class. Smaller is better.",
			scale: 1, decimals: 3, of: func(m *eval.MultiLabel) eval.Number { return m.LogLoss }},
		{name: "ECE", meaning: "Calibration error: distance of probabilities from frequencies. Smaller is better.",
			scale: 100, decimals: 1, of: func(m *eval.MultiLabel) eval.Number { return m.ECE.All }},
	}
}

// judgedLabels are the true labels, else the labels.
func judgedLabels(r *eval.Result) *eval.MultiLabel { return cmp.Or(r.Truth, r.Labels) }

// isOneClass reports whether classes exclude each other.
func isOneClass(r *eval.Result) bool {
	m := judgedLabels(r)
	return m != nil && m.OneClass != nil
}

// oneClassHeadlines are the main measures of a run.
func oneClassHeadlines(r *Run) (out []headline) {
	m := judgedLabels(r.Result)
	for _, o := range oneClassMeasures(r.Samples) {
		if v := o.of(m); v.Defined() {
			out = append(out, newHeadline(o.name, o.meaning, v, o.scale, o.decimals))
		}
	}
	return out
}

// mostColumns is the largest number of classes whose confusion is shown as a matrix.
const mostColumns = 12

// confusionsShown is the length of the list of confusions of more classes.
const confusionsShown = 20

// confusionTable shows which class is predicted for which label; none if the counts were not kept.
func confusionTable(r *eval.Result) []*Table {
	m := judgedLabels(r)
	if m == nil || m.OneClass == nil || m.OneClass.Confusion == nil {
		return nil
	}
	against := "label"
	if r.Truth != nil {
		against = "true class"
	}
	cells := make([]eval.Number, len(m.OneClass.Confusion))
	for i, n := range m.OneClass.Confusion {
		cells[i] = eval.Number(n)
	}
	return []*Table{classMatrix("Which class is predicted", against, "predicted", r, cells, 1, 0)}
}

// transitionTable shows the matrix that a net learned through; none without one.
func transitionTable(r *Run) []*Table {
	if r.Transition == nil || r.Result == nil || len(r.Transition) != len(r.Result.Words) {
		return nil
	}
	return []*Table{classMatrix("How classes are labelled, as the net assumes (%)", "class", "labelled", r.Result,
		slices.Concat(r.Transition...), 100, 1)}
}

// classMatrix is a table of K×K cells, or of the largest ones off its diagonal if there are many classes.
func classMatrix(title, row, column string, r *eval.Result, cells []eval.Number, scale eval.Number,
	decimals int) *Table {
	k := len(r.Words)
	t := &Table{Title: title, Columns: []Column{{Name: row, Text: true}}}
	if k <= mostColumns {
		for _, w := range r.Words {
			t.Columns = append(t.Columns, Column{Name: w.Word, Decimals: decimals})
		}
		for y, w := range r.Words {
			line := Row{Cells: []Cell{words(w.Word)}}
			for _, v := range cells[y*k : (y+1)*k] {
				line.Cells = append(line.Cells, number(scale*v))
			}
			t.Rows = append(t.Rows, line)
		}
		t.Notes = []string{fmt.Sprintf("A row for each %s, a column for each class that is %s.", row, column)}
		return t
	}
	t.Columns = append(t.Columns, Column{Name: column, Text: true}, Column{Name: "number", Decimals: decimals})
	if scale == 100 {
		t.Columns[2].Name = "%"
	}
	var order []int
	for i, v := range cells {
		if i/k != i%k && v > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(cells[b], cells[a]) })
	for _, i := range order[:min(confusionsShown, len(order))] {
		t.AddRow(words(r.Words[i/k].Word), words(r.Words[i%k].Word), number(scale*cells[i]))
	}
	return t
}
