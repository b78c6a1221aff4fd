package doctor

import (
	"cmp"
	"fmt"
	"slices"
)

// Weight is the severity of a finding.
type Weight string

const (
	Error   Weight = "error"   // a run would fail
	Warning Weight = "warning" // a run would go through, and its figures may mean something else than they seem to
	Note    Weight = "note"    // worth knowing
)

var weights = []Weight{Error, Warning, Note}

// Finding is one thing that was found, with what to do about it.
type Finding struct {
	Weight Weight `json:"weight"`
	Kind   string `json:"kind"` // for machines, such as "duplicates-across"
	Text   string `json:"text"`
	Cure   string `json:"cure"` // a flag, a command or a deed
	// Examples are some of the bags, files or words that it is about.
	Examples []string `json:"examples,omitempty"`
}

// Sort orders findings by weight, and keeps the order within a weight.
func Sort(findings []Finding) {
	slices.SortStableFunc(findings, func(a, b Finding) int {
		return cmp.Compare(slices.Index(weights, a.Weight), slices.Index(weights, b.Weight))
	})
}

// Count is how many findings have a weight.
func Count(findings []Finding, w Weight) int {
	n := 0
	for _, f := range findings {
		if f.Weight == w {
			n++
		}
	}
	return n
}

// maxExamples bounds the examples of a finding.
const maxExamples = 10

// some are the first examples of many.
func some(all []string) []string { return all[:min(len(all), maxExamples)] }

// repair is what to do about bags or rows that cannot be used.
const repair = "repair or remove them"

// leftOut is a finding about n bags or rows that a run leaves out, as what says: an error if it may leave out fewer,
// most of a noun. cure repairs them, and so does what another says.
func leftOut(kind, what string, n, most int, noun, cure, another string, examples []string) Finding {
	f := Finding{Weight: Warning, Kind: kind, Text: what + "; training leaves them out", Cure: cure + another,
		Examples: some(examples)}
	if n > most {
		f.Weight, f.Text = Error, fmt.Sprintf("%s; training leaves out at most %d%s", what, most, noun)
		f.Cure = fmt.Sprintf("%s, or leave them out: `data.max_bad_samples` %d", cure, n)
	}
	return f
}

// percent formats a share.
func percent(part, whole int) string {
	return fmt.Sprintf("%.3g %%", 100*float64(part)/float64(max(whole, 1)))
}
