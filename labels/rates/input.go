package rates

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"nmn/eval"
	"nmn/format/table"
	"nmn/internal/parallel"
)

// Input holds the scores and labels of N bags and K classes. It is not changed.
type Input struct {
	Bags, Classes int
	Scores        []float32 // N×K, logits of p(y=1|I), out-of-fold; finite
	Labels        []uint8   // N×K, observed labels z, 0 or 1, or table.Unknown: these are left out
	Words         []string  // names of the classes; may be nil
	IDs           []string  // names of the bags, for messages; may be nil
}

// check names the first entry that no rate can be estimated from. Errors wrap eval.ErrShape or
// eval.ErrValue.
func (in *Input) check() error {
	if in.Bags < 1 || in.Classes < 1 {
		return fmt.Errorf("noise rates: %d samples, %d classes: nothing to estimate from: %w",
			in.Bags, in.Classes, eval.ErrShape)
	}
	for _, m := range []struct {
		what string
		n    int
	}{{"scores", len(in.Scores)}, {"labels", len(in.Labels)}} {
		if m.n/in.Classes != in.Bags || m.n%in.Classes != 0 {
			return fmt.Errorf("noise rates: %d %s for %d samples × %d classes: %w",
				m.n, m.what, in.Bags, in.Classes, eval.ErrShape)
		}
	}
	if in.Words != nil && len(in.Words) != in.Classes {
		return fmt.Errorf("noise rates: %d names for %d classes: %w", len(in.Words), in.Classes, eval.ErrShape)
	}
	if in.IDs != nil && len(in.IDs) != in.Bags {
		return fmt.Errorf("noise rates: %d identifiers for %d samples: %w", len(in.IDs), in.Bags, eval.ErrShape)
	}
	for i, o := range in.Scores {
		if f := float64(o); math.IsNaN(f) || math.IsInf(f, 0) {
			return fmt.Errorf("noise rates: %s: logit %v, want a finite number: %w", in.place(i), o, eval.ErrValue)
		}
		if z := in.Labels[i]; z > 1 && z != table.Unknown {
			return fmt.Errorf("noise rates: %s: label %d, want 0 or 1: %w", in.place(i), in.Labels[i], eval.ErrValue)
		}
	}
	return nil
}

// blockOf is how many values are looked at together.
const blockOf = 1 << 13

// place names a cell by row and column, and by their names if they have any.
func (in *Input) place(i int) string {
	word := ""
	if in.Words != nil {
		word = in.Words[i%in.Classes]
	}
	return eval.Place(i, in.Classes, in.IDs, word)
}

// Logits turns probabilities into logits. Those that float32 has rounded to 0 or 1 become the logit
// of half of the last step below 1, about ±17.3.
func Logits(probabilities []float32) ([]float32, error) {
	out := make([]float32, len(probabilities))
	return out, logitsInto(out, probabilities)
}

// logitsInto writes the logits of probabilities to out, which may be the same.
func logitsInto(out, probabilities []float32) error {
	if i := slices.IndexFunc(probabilities, func(v float32) bool { return !(v >= 0 && v <= 1) }); i >= 0 {
		return fmt.Errorf("score %d is %v, want a probability from 0 to 1: %w", i+1, probabilities[i], eval.ErrValue)
	}
	parallel.Blocks(len(out), blockOf, func(from, to int) {
		for i := from; i < to; i++ {
			const least = 0x1p-25
			p := min(max(float64(probabilities[i]), least), 1-least)
			out[i] = float32(math.Log(p) - math.Log1p(-p))
		}
	})
	return nil
}

// ReadFiles reads out-of-fold scores with their labels for what works on logits: an estimate of rates, an audit.
// Labels may be unknown.
// Classes that no file names are named by their numbers, counted from 1.
func ReadFiles(f eval.Files) (eval.Input, error) {
	f.Gaps = true
	in, err := f.Read(nil)
	if err != nil {
		return in, err
	}
	if in.Words == nil {
		for c := range in.Classes {
			in.Words = append(in.Words, strconv.Itoa(c+1))
		}
	}
	if f.Logits {
		return in, nil
	}
	if err = logitsInto(in.Scores, in.Scores); err != nil {
		return in, fmt.Errorf("%s: %w (set `scores.logits` if the scores are log-odds)", f.Scores, err)
	}
	return in, nil
}

// InputOf takes what rates are estimated from out of what ReadFiles has read.
func InputOf(in *eval.Input) Input {
	return Input{Bags: in.Bags, Classes: in.Classes, Scores: in.Scores, Labels: in.Labels, Words: in.Words, IDs: in.IDs}
}
