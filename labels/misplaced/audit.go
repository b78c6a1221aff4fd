package misplaced

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"nmn/eval"
	"nmn/internal/parallel"
	"nmn/loader"
	"nmn/loader/annotation"
	"nmn/text"
)

// AuditOptions set how captions are audited.
type AuditOptions struct {
	// Vocabulary holds the words that captions are judged by. If nil, these are the words of the header of
	// the scores. Without a header they are the Words most frequent words of the captions.
	Vocabulary *text.Vocabulary
	Words      int
	// Scores is a file of scores of bags that package table can read, from a classifier that has not learned
	// the labels of these bags. Empty uses the captions alone. Rows with ids may cover some of the bags, in
	// any order. If Logits is set, the scores are log-odds instead of probabilities.
	Scores string
	Logits bool
	// Precision is the least mean probability to be foreign of the captions that are dropped, above 0 to 1.
	Precision float64
	// Truth is a file with the ids of the foreign captions, if they are known: see readTruth.
	Truth   string
	Witness Options
}

// DefaultAuditOptions judge by the 1,000 most frequent words, and drop at an expected precision of .9.
func DefaultAuditOptions() AuditOptions {
	return AuditOptions{Words: 1000, Precision: .9, Witness: DefaultOptions()}
}

// Report is the result of an audit of captions.
type Report struct {
	*annotation.Bags
	*Result
	Vocabulary *text.Vocabulary
	Options    AuditOptions
	// Threshold is the least own probability of a caption that is kept, 0 to keep all.
	Threshold float64
	// Dropped reports for each bag and caption whether the threshold drops it.
	Dropped [][]bool
	// Remarks are the remarks of the inference, and on unusual captions, each a sentence without its full
	// stop.
	Remarks []string
	// Judgement is the comparison with the truth; nil if the truth is unknown.
	Judgement *Judgement

	input  Input
	empty  int // captions that mention nothing
	others int // rows of scores without a bag
	truth  [][]bool
	ranked [][2]int // places of all captions, the least probable first
}

// Audit judges all captions of the bags. Errors about files name file and place.
func Audit(ctx context.Context, bags *annotation.Bags, o AuditOptions) (*Report, error) {
	if !(o.Precision > 0 && o.Precision <= 1) {
		return nil, fmt.Errorf("captions: `audit.precision` is %g, want above 0 to 1", o.Precision)
	}
	if bags.Len() == 0 {
		return nil, loader.Unusable(fmt.Errorf("captions %q: there are no captions", bags.Name))
	}
	r := &Report{Bags: bags, Vocabulary: o.Vocabulary, Options: o}
	if err := r.readInput(ctx); err != nil {
		return nil, err
	}
	if err := r.countMentions(); err != nil {
		return nil, err
	}
	var err error
	if r.Result, err = Find(ctx, r.input, o.Witness); err != nil {
		return nil, fmt.Errorf("captions %q: %w", bags.Name, err)
	}
	r.Remarks = slices.Concat(r.Result.Remarks, r.remarks())
	r.choose()
	r.rank()
	if r.truth != nil {
		j := r.Judge(r.truth, r.Kept(r.Threshold))
		r.Judgement = &j
	}
	return r, nil
}

func (r *Report) countMentions() error {
	for _, captions := range r.input.Captions {
		for _, c := range captions {
			if len(c) == 0 {
				r.empty++
			}
		}
	}
	if r.empty == r.Len() {
		return loader.Unusable(fmt.Errorf(
			"captions %q: no caption has a word of the vocabulary; the vocabulary is for other captions "+
				"or another language", r.Name))
	}
	return nil
}

// readInput reads the scores or the vocabulary, and turns texts into words.
func (r *Report) readInput(ctx context.Context) error {
	scores, err := readScores(r.Options)
	if err != nil {
		return err
	}
	if r.Vocabulary == nil && scores != nil && scores.Words != nil {
		words := make([]text.Word, len(scores.Words))
		for k, w := range scores.Words {
			words[k].Text = w
		}
		if r.Vocabulary, err = text.NewVocabulary(words); err != nil {
			return fmt.Errorf("%s: %w", scores.Name, err)
		}
	}
	if r.Vocabulary == nil {
		if r.Vocabulary, err = frequentWords(r.Bags, r.Options.Words); err != nil {
			return loader.Unusable(fmt.Errorf("captions %q: %w", r.Name, err))
		}
	}
	if r.Options.Truth != "" {
		if r.truth, err = readTruth(r.Options.Truth, r.Bags); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	r.input = Input{Classes: r.Vocabulary.Len(), Captions: Mentions(r.Bags, r.Vocabulary)}
	if scores != nil {
		return r.join(scores)
	}
	return nil
}

func frequentWords(bags *annotation.Bags, most int) (*text.Vocabulary, error) {
	return text.BuildVocabulary(func(yield func(string) bool) {
		for _, captions := range bags.Captions {
			for _, c := range captions {
				if !yield(c.Text) {
					return
				}
			}
		}
	}, text.VocabularyOptions{Size: most})
}

// Mentions are, for each bag and caption, the words of the vocabulary that the caption has as tokens (text.Tokenizer,
// exact match): their classes, ascending and without repeats.
func Mentions(bags *annotation.Bags, v *text.Vocabulary) [][][]int32 {
	type place struct{ bag, caption int }
	out := make([][][]int32, len(bags.IDs))
	var places []place
	for b, captions := range bags.Captions {
		out[b] = make([][]int32, len(captions))
		for c := range captions {
			places = append(places, place{b, c})
		}
	}
	const run = 256 // captions after which a goroutine reuses its memory
	parallel.Blocks(len(places), run, func(from, to int) {
		var tokens []string
		var classes []int32
		for _, p := range places[from:to] {
			tokens = text.Tokenizer{}.Append(tokens[:0], bags.Captions[p.bag][p.caption].Text)
			classes = classes[:0]
			for _, token := range tokens {
				if k, ok := v.Index(token); ok {
					classes = append(classes, int32(k))
				}
			}
			slices.Sort(classes)
			out[p.bag][p.caption] = slices.Clone(slices.Compact(classes))
		}
	})
	return out
}

// choose sets the threshold and the captions that it drops: never one that more likely belongs to its bag
// than not.
func (r *Report) choose() {
	r.Threshold, _ = r.Result.Precision(r.Options.Precision)
	r.Threshold = min(r.Threshold, .5)
	r.Dropped = r.Kept(r.Threshold)
	for _, of := range r.Dropped {
		for c, keep := range of {
			of[c] = !keep
		}
	}
}

// Drops returns the number of captions that the threshold drops, and their mean probability to be foreign,
// which is undefined if there are none.
func (r *Report) Drops() (n int, precision eval.Number) {
	sum := 0.0
	for b := range r.Dropped {
		for c, drop := range r.Dropped[b] {
			if drop {
				n++
				sum += 1 - r.Own[b][c]
			}
		}
	}
	return n, eval.Number(sum / float64(n)) // NaN for 0/0
}

// remarks lists what is unusual about the captions.
func (r *Report) remarks() []string {
	var out []string
	const several = -1
	without, shared := 0, 0
	seen := map[string]int{} // the bag with a text, or several
	for b, captions := range r.Captions {
		if len(captions) == 0 {
			without++
		}
		for _, caption := range captions {
			switch first, ok := seen[caption.Text]; {
			case !ok:
				seen[caption.Text] = b
			case first != b && first != several:
				seen[caption.Text] = several
				shared++
			}
		}
	}
	note := func(what string, n int) {
		if n > 0 {
			out = append(out, fmt.Sprintf("%s: %d", what, n))
		}
	}
	note("pictures without captions", without)
	note("captions without a word of the vocabulary, judged only by the words that they leave out", r.empty)
	if r.input.Scored != nil {
		note("pictures without scores, whose captions are compared only with each other", len(r.IDs)-len(r.input.Scored))
	}
	note("rows of scores without a picture", r.others)
	note("captions that occur, word for word, with more than one picture", shared)
	return out
}

// Lowest are the captions that are least probably of their bags, as places in Captions, the least probable first; at
// most n, all for a negative n. They are not to be changed.
func (r *Report) Lowest(n int) [][2]int {
	if n < 0 {
		n = len(r.ranked)
	}
	return r.ranked[:min(n, len(r.ranked))]
}

// Most tied captions, and captions of a bag, for which ties are ordered by the evidence of their words.
const (
	mostTied  = 10_000
	mostOfBag = 200
)

// rank orders the captions by their probabilities. Probabilities are computed for groups, so ties are common.
// Ties among captions that are probably foreign are ordered by the evidence against them, per word.
func (r *Report) rank() {
	r.ranked = make([][2]int, 0, r.Len())
	for b := range r.Own {
		for c := range r.Own[b] {
			r.ranked = append(r.ranked, [2]int{b, c})
		}
	}
	slices.SortStableFunc(r.ranked, func(x, y [2]int) int { return cmp.Compare(r.own(x), r.own(y)) })
	foreign, _ := slices.BinarySearchFunc(r.ranked, .5, func(p [2]int, half float64) int {
		return cmp.Compare(r.own(p), half)
	})
	suspects := r.ranked[:min(foreign, mostTied)]
	against := map[[2]int]float64{}
	for _, p := range suspects {
		if len(r.Captions[p[0]]) > mostOfBag {
			continue
		}
		words := max(len(r.input.Captions[p[0]][p[1]]), 1)
		for _, reason := range r.Reasons(p[0], p[1], math.MaxInt) {
			against[p] += reason.Weight / float64(words) // long captions have more of everything
		}
	}
	slices.SortStableFunc(suspects, func(x, y [2]int) int {
		return cmp.Or(cmp.Compare(r.own(x), r.own(y)), cmp.Compare(against[x], against[y]))
	})
}

// own is the probability of the caption at a place.
func (r *Report) own(place [2]int) float64 { return r.Own[place[0]][place[1]] }

// Against are the words that speak against a caption: those that it has, and those that it lacks although its bag
// speaks of them, each beginning with the worst; at most n of both together.
func (r *Report) Against(bag, caption, n int) (has, lacks []string) {
	for _, reason := range r.Reasons(bag, caption, n) {
		if word := r.Vocabulary.Word(reason.Class).Text; reason.Mentioned {
			has = append(has, word)
		} else {
			lacks = append(lacks, word)
		}
	}
	return has, lacks
}
