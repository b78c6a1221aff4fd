package eval

import (
	"nmn/format/table"
	"nmn/text"
)

// Files are the scores of any program, and the labels to compare them with: matrices with a row for each bag
// and a column for each word, as CSV or .npy. All but Scores may be empty.
type Files struct {
	Scores            string
	Counts            string // captions that mention a word, of CaptionsPerSample for each bag
	CaptionsPerSample int
	Labels            string // observed labels, 0 or 1
	Truth             string // true labels, 0 or 1
	Logits            bool   // scores are log-odds instead of probabilities
	Gaps              bool   // allows unknown labels, as table.ReadKnownLabels reads them; otherwise they are an error
	// LabelsOf gives the observed labels of the bags and words of the scores, in place of a file; nil reads Labels.
	LabelsOf func(scores *table.Matrix) (*table.Matrix, error)
}

// Read reads the files and joins them, in the order of the bags of the scores and of the words of the vocabulary, which
// may be nil. Errors about their content wrap an error of package table.
func (f *Files) Read(v *text.Vocabulary) (Input, error) {
	in := Input{Logits: f.Logits, Vocabulary: v}
	scores, err := table.ReadScores(f.Scores, f.Logits)
	if err != nil {
		return in, err
	}
	for _, file := range []struct {
		path   string
		limit  int
		assign func(*table.Joined)
	}{
		{f.Counts, f.CaptionsPerSample, func(j *table.Joined) {
			in.Counts, in.CaptionsPerSample = j.Counts, f.CaptionsPerSample
		}},
		{f.Labels, 1, func(j *table.Joined) { in.Labels = j.Counts }},
		{f.Truth, 1, func(j *table.Joined) { in.Truth = j.Counts }},
	} {
		if file.path == "" {
			continue
		}
		var m *table.Matrix
		switch {
		case file.path == f.Labels && f.LabelsOf != nil:
			m, err = f.LabelsOf(scores)
		case file.path == f.Labels && f.Gaps:
			m, err = table.ReadKnownLabels(file.path)
		case file.limit == 1:
			m, err = table.ReadLabels(file.path)
		default:
			m, err = table.ReadCounts(file.path, file.limit)
		}
		if err != nil {
			return in, err
		}
		joined, err := table.Join(scores, m, v)
		if err != nil {
			return in, err
		}
		if in.Scores == nil {
			in.Bags, in.Classes, in.Scores = joined.Bags, joined.Classes, joined.Scores
			in.Words, in.IDs = joined.Words, joined.IDs
			// The order of rows and columns in the first file applies to the others.
			named := *scores
			named.Words, named.IDs, named.Values = joined.Words, joined.IDs, joined.Scores
			scores = &named
		}
		file.assign(joined)
	}
	return in, nil
}
