package eval

import (
	"errors"
	"fmt"
	"math"

	dense "gorgonia.org/tensor"

	"nmn/format/table"
	"nmn/labels"
	"nmn/text"
)

// Errors that a caller may act on; every error of this package about its input wraps one of them.
var (
	ErrShape = errors.New("sizes disagree")    // reports matrices whose sizes disagree
	ErrValue = errors.New("value not allowed") // reports NaN or a value outside its range
)

// Input holds a model's scores for N bags and K classes, and the labels to compare them with. All matrices
// are N×K, row-major. At least one of Labels, Truth and Counts is needed.
type Input struct {
	Bags, Classes int

	// Scores are the clean-label probabilities p(y=1|I), or log-odds if Logits is set. Log-odds distinguish
	// values that round to probability 1, so prefer them for ranking. Other finite scores are used unchanged
	// and counted in Result.OutsideRange: rankings keep their meaning, thresholds and calibration do not.
	// NaN, and an infinite probability, are errors.
	Scores []float32
	// Observed are the observed-label probabilities p(z=1|I) (log-odds if Logits is set): the human-centric
	// prediction that the paper compares in its section on incorrect labels. May be nil.
	Observed []float32
	Logits   bool
	// Exclusive is set if each bag has exactly one of the classes. Probabilities of a bag then sum to one, and
	// the log loss is that of the one class. A bag without exactly one label 1 is left out of these measures.
	Exclusive bool

	// Labels are the observed labels z, 0 or 1, or table.Unknown, which no metric counts. If Labels is nil
	// and there are Counts, labels are Counts > 0.
	Labels            []uint8
	Truth             []uint8 // true labels y, 0 or 1, where known
	Counts            []uint8 // captions of the bag that mention the word, 0 to CaptionsPerSample
	CaptionsPerSample int     // 5 for COCO and scenes, 20 for MSR-VTT; needed with Counts, at least 2

	Vocabulary *text.Vocabulary // class names and parts of speech; nil leaves the groups undefined
	Words      []string         // class names if there is no vocabulary; may be nil
	IDs        []string         // names of the bags for messages; may be nil

	Rates     *labels.Rates // estimated transition rates q per class; may be nil
	TrueRates *labels.Rates // true transition rates T per class; may be nil, needs Rates
}

// Options are the settings of an evaluation; zero values stand for the defaults.
type Options struct {
	Threshold float64 // the least probability of a predicted label; 0.5 by default
	// PlugIn is a second threshold on Scores, for example one found on training data. By default, and for
	// Observed always, it is PlugInThreshold of the scores that are evaluated.
	PlugIn float64
	// TopK is the number of labels predicted for each bag by the top-k measures; 3 by default, and
	// at most the number of classes.
	TopK int
}

const (
	defaultThreshold = 0.5
	defaultTopK      = 3
)

// Validate names the field that is out of range.
func (o Options) Validate() error {
	switch {
	case !(o.Threshold >= 0 && o.Threshold <= 1):
		return fmt.Errorf("evaluation: Threshold is %g, want 0 to 1: %w", o.Threshold, ErrValue)
	case !(o.PlugIn >= 0 && o.PlugIn <= 1):
		return fmt.Errorf("evaluation: PlugIn is %g, want 0 to 1: %w", o.PlugIn, ErrValue)
	case o.TopK < 0:
		return fmt.Errorf("evaluation: TopK is %d, want at least 1: %w", o.TopK, ErrValue)
	}
	return nil
}

// check refuses what Evaluate could not give a meaning to.
func (in *Input) check() error {
	if in.Bags < 1 || in.Classes < 1 {
		return fmt.Errorf("evaluation: %d samples, %d classes: nothing to evaluate: %w", in.Bags, in.Classes, ErrShape)
	}
	if in.Labels == nil && in.Truth == nil && in.Counts == nil {
		return fmt.Errorf("evaluation: no labels, true labels or caption counts to hold the scores against: %w", ErrShape)
	}
	if err := in.checkNames(); err != nil {
		return err
	}
	if err := in.checkScores("scores", in.Scores); err != nil {
		return err
	}
	if in.Observed != nil {
		if err := in.checkScores("observed scores", in.Observed); err != nil {
			return err
		}
	}
	return in.checkReferences()
}

func (in *Input) checkNames() error {
	if v := in.Vocabulary; v != nil && v.Len() != in.Classes {
		return fmt.Errorf("evaluation: vocabulary of %d names for %d classes: %w", v.Len(), in.Classes, ErrShape)
	}
	if in.Words != nil && len(in.Words) != in.Classes {
		return fmt.Errorf("evaluation: %d names for %d classes: %w", len(in.Words), in.Classes, ErrShape)
	}
	if in.IDs != nil && len(in.IDs) != in.Bags {
		return fmt.Errorf("evaluation: %d identifiers for %d samples: %w", len(in.IDs), in.Bags, ErrShape)
	}
	return nil
}

func (in *Input) checkScores(what string, scores []float32) error {
	if err := checkSize(what, len(scores), in.Bags, in.Classes); err != nil {
		return err
	}
	for i, s := range scores {
		if fault := scoreFault(s, in.Logits); fault != "" {
			return fmt.Errorf("%s: %s: %s: %w", what, in.place(i), fault, ErrValue)
		}
	}
	return nil
}

// scoreFault returns what is wrong with a score, or nothing.
func scoreFault(s float32, logits bool) string {
	switch {
	case s != s:
		return "NaN"
	case !logits && math.IsInf(float64(s), 0):
		return "an infinite probability"
	}
	return ""
}

func (in *Input) checkReferences() error {
	if in.Labels != nil {
		if err := in.checkLabels("labels", in.Labels, true); err != nil {
			return err
		}
	}
	if in.Truth != nil {
		if err := in.checkLabels("true labels", in.Truth, false); err != nil {
			return err
		}
	}
	if in.Counts != nil {
		if err := in.checkCounts(); err != nil {
			return err
		}
	}
	if in.TrueRates != nil && in.Rates == nil {
		return fmt.Errorf("evaluation: true rates without estimated rates: %w", ErrShape)
	}
	for _, m := range []struct {
		what  string
		rates *labels.Rates
	}{{"estimated rates", in.Rates}, {"true rates", in.TrueRates}} {
		if m.rates == nil {
			continue
		}
		if err := checkRates(m.what, m.rates, in.Classes); err != nil {
			return err
		}
	}
	return nil
}

func (in *Input) checkCounts() error {
	if err := checkCaptions(in.CaptionsPerSample); err != nil {
		return err
	}
	if err := checkSize("caption counts", len(in.Counts), in.Bags, in.Classes); err != nil {
		return err
	}
	for i, count := range in.Counts {
		if int(count) > in.CaptionsPerSample {
			return fmt.Errorf("caption counts: %s: %d of %d captions: %w", in.place(i), count, in.CaptionsPerSample, ErrValue)
		}
	}
	return nil
}

// checkLabels refuses labels of another size, and values other than 0, 1 and, with gaps, table.Unknown.
func (in *Input) checkLabels(what string, labels []uint8, gaps bool) error {
	if err := checkSize(what, len(labels), in.Bags, in.Classes); err != nil {
		return err
	}
	for i, z := range labels {
		if z > 1 && !(gaps && z == table.Unknown) {
			return fmt.Errorf("%s: %s: %d, want 0 or 1: %w", what, in.place(i), z, ErrValue)
		}
	}
	return nil
}

func checkSize(what string, n, bags, classes int) error {
	if bags < 0 || classes < 1 || n/classes != bags || n%classes != 0 {
		return fmt.Errorf("%s: %d values for %d samples × %d classes: %w", what, n, bags, classes, ErrShape)
	}
	return nil
}

// place names a cell of a matrix by row and column, counted from 1, with their names where known.
func (in *Input) place(i int) string { return Place(i, in.Classes, in.IDs, in.word(i%in.Classes)) }

// Place names cell i of a row-major matrix by row and column, counted from 1, with the identifier of the row
// and the word of the column if they are known: nil and "" otherwise.
func Place(i, classes int, ids []string, word string) string {
	row, column := i/classes, i%classes
	s := fmt.Sprintf("row %d", row+1)
	if ids != nil {
		s += fmt.Sprintf(" (%s)", ids[row])
	}
	s += fmt.Sprintf(", column %d", column+1)
	if word != "" {
		s += fmt.Sprintf(" (%s)", word)
	}
	return s
}

// word returns the name of a class, empty if it has none.
func (in *Input) word(c int) string {
	switch {
	case in.Vocabulary != nil:
		return in.Vocabulary.Word(c).Text
	case in.Words != nil:
		return in.Words[c]
	}
	return ""
}

// Uint8Matrix returns the values of a row-major N×K host array of uint8, of labels or counts, without copying them,
// with N and K. Another type, shape or layout is an error that wraps ErrShape.
func Uint8Matrix(d *dense.Dense) (values []uint8, bags, classes int, err error) {
	if d == nil {
		return nil, 0, 0, fmt.Errorf("evaluation: no array given, want N×K of uint8: %w", ErrShape)
	}
	shape := d.Shape()
	if d.Dtype() != dense.Uint8 || shape.Dims() != 2 || d.RequiresIterator() || d.DataOrder().IsColMajor() {
		return nil, 0, 0, fmt.Errorf("evaluation: array of %v, shape %v: want contiguous row-major N×K of uint8: %w",
			d.Dtype(), shape, ErrShape)
	}
	return d.Uint8s()[:shape[0]*shape[1]], shape[0], shape[1], nil
}
