package multiclass

import (
	"cmp"
	"context"
	"slices"

	"nmn/eval"
	"nmn/format/table"
	"nmn/internal/parallel"
	"nmn/labels"
	"nmn/labels/audit"
	"nmn/labels/audit/rows"
)

// someRows is how many rows a goroutine takes at a time.
const someRows = 1 << 10

// FlaggedToo is the largest MinError at which labels that confident learning prunes become suspects too.
const FlaggedToo = .5

// Suspect is a row whose label may be wrong.
type Suspect struct {
	Row, Given int32
	Suggested  int32   // the most probable class; the label's own if no other is more probable
	Wrong      float64 // probability that the label is wrong, 1 - ρ_z
	P          float64 // ρ of the class suggested: the probability that the corrected label is right
}

// Report is the result of an audit.
type Report struct {
	*Input
	*Model
	// Suspects are the rows whose label is wrong with a probability of at least MinError, the surest first; equal ones
	// in the order of rows. Up to a MinError of .5 they are no fewer than confident learning prunes. A MinError of 0 lists
	// every row whose label is known.
	Suspects []Suspect
	MinError float64
	// Memorised is set if what nets confuse counts as noise, so that p(wrong) is not calibrated. With Options.Plateau
	// that is so if noise depends on the class and no mixture explains it.
	Memorised bool
	Classes   []Class
	Table     *rows.Table
	Agreement float64        // share of rows whose label has the highest score
	Confident Confident      // result of confident learning
	Judgement *Judgement     // nil where true classes are not known
	Decisions Decisions      // of a reviewer; nil for none
	Outcome   *audit.Outcome // of Correct; nil if nothing was corrected
}

// Class sums up a class.
type Class struct {
	Labels   int     // rows that are labelled so
	Suspects int     // suspects among them
	True     float64 // rows that are expected to be of the class
	Right    float64 // T_yy, the share of them that are labelled so
	// Confused is the class that they are labelled most often otherwise, and ConfusedRate how often.
	Confused     int
	ConfusedRate float64
}

// Files audits the labels of files.
func Files(ctx context.Context, f eval.Files, o Options) (*Report, error) {
	in, err := readFiles(f)
	if err != nil {
		return nil, err
	}
	return Audit(ctx, in, o)
}

// Audit estimates the noise and ranks the labels.
func Audit(ctx context.Context, in *Input, o Options) (*Report, error) {
	m, err := estimate(ctx, *in, o)
	if err != nil {
		return nil, err
	}
	r := &Report{Input: in, Model: m, MinError: o.MinError, Memorised: o.Plateau && m.given != nil && m.mixture == nil,
		Confident: confidentOf(in)}
	r.rank()
	r.classes()
	if in.Truth != nil {
		if r.Judgement, err = r.judge(); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// Known is the number of rows whose label is known.
func (r *Report) Known() int { return len(r.known()) }

func (r *Report) rank() {
	k := r.Input.Classes
	r.Table = &rows.Table{Scores: make([]rows.Score, r.Rows), IDs: r.IDs, Kind: func(int) string { return "class" }}
	for c := range k {
		r.Table.Words = append(r.Table.Words, r.Word(c))
	}
	judged := make([]Suspect, r.Rows)
	parallel.Blocks(r.Rows, someRows, func(from, to int) {
		own := r.newRow()
		for i := from; i < to; i++ {
			if z := r.Labels[i]; z != table.UnknownClass {
				own.set(r.Scores[i*k : (i+1)*k])
				judged[i] = own.suspect(int32(i), z)
				r.Table.Scores[i].Quality = own.posterior[z]
			}
		}
	})
	agree, known := 0, 0
	for i, s := range judged {
		to := &r.Table.Scores[i]
		if r.Labels[i] == table.UnknownClass {
			*to = rows.Score{Worst: -1, Suggested: -1}
			continue
		}
		known++
		if labels.Largest(r.Scores[i*k:(i+1)*k]) == int(s.Given) {
			agree++
		}
		to.Worst, to.Wrong, to.Suggested = s.Given, s.Wrong, -1
		if s.Suggested != s.Given {
			to.Suggested = s.Suggested
		}
		r.Suspects = append(r.Suspects, s)
	}
	r.Agreement = float64(agree) / float64(max(known, 1))
	slices.SortFunc(r.Suspects, func(a, b Suspect) int {
		return cmp.Or(cmp.Compare(b.Wrong, a.Wrong), cmp.Compare(a.Row, b.Row))
	})
	r.Suspects = r.suspected(r.Suspects)
	for _, s := range r.Suspects {
		r.Table.Scores[s.Row].Suspects = 1
	}
	r.Table.Rank()
}

// suspected returns the suspects among labels in order. If the noise is unknown, the posterior flags nothing,
// and confident learning does, unless the scores know nothing of the labels.
func (r *Report) suspected(all []Suspect) []Suspect {
	if r.Noise == Unknown && r.MinError <= FlaggedToo {
		pruned := make([]bool, r.Rows)
		for _, i := range r.Confident.Pruned {
			pruned[i] = !r.Chance
		}
		return slices.DeleteFunc(all, func(s Suspect) bool { return s.Wrong < r.MinError && !pruned[s.Row] })
	}
	n := 0
	for n < len(all) && (all[n].Wrong >= r.MinError || r.MinError <= FlaggedToo && n < len(r.Confident.Pruned)) {
		n++
	}
	return all[:n]
}

// suspect judges a row that has been set, by its label.
func (r *row) suspect(i, z int32) Suspect {
	r.judge(int(z))
	best := labels.Largest(r.posterior)
	if r.m.Noise == Unknown {
		best = labels.Largest(r.p) // half of the doubt is never the greater one
	}
	// The sum over the others keeps digits if the label is almost surely right.
	wrong := 0.0
	for y, p := range r.posterior {
		if y != int(z) {
			wrong += p
		}
	}
	return Suspect{Row: i, Given: z, Suggested: int32(best), Wrong: wrong, P: r.posterior[best]}
}

func (r *Report) classes() {
	k := r.Input.Classes
	r.Classes = make([]Class, k)
	for _, z := range r.Labels {
		if z != table.UnknownClass {
			r.Classes[z].Labels++
		}
	}
	for _, s := range r.Suspects {
		r.Classes[s.Given].Suspects++
	}
	for y := range r.Classes {
		c := &r.Classes[y]
		c.True, c.Right, c.Confused = r.True[y], r.T[y*k+y], -1
		for z, t := range r.T[y*k : (y+1)*k] {
			if z != y && (c.Confused < 0 || t > c.ConfusedRate) {
				c.Confused, c.ConfusedRate = z, t
			}
		}
	}
}
