package features

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// Options say where features, labels and identifiers are.
type Options struct {
	// Features is the file: .npy, .npz, .safetensors, .csv, .tsv, .parquet or .arff; text may be
	// compressed (.gz).
	Features string
	// Labels is a file with labels: an .xml of Mulan that names label columns of Features; a matrix or
	// table of 0 and 1; a table with a column of label lists; or .jsonl. Empty where Features has them.
	Labels string
	// Truth is a file with the true labels, of the same kinds but .xml, for evaluation alone; empty for
	// none.
	Truth string
	// Counts is a file of whole numbers, N×K: how many captions mention each label; empty for none.
	Counts string

	// Array and LabelArray name arrays of .npz and .safetensors; Array may be empty where there is one.
	Array, LabelArray string
	// LabelColumns are patterns (path.Match) on the names of the columns that are labels.
	LabelColumns []string
	// IDColumn, ListColumn and SplitColumn name columns with identifiers, lists of labels, and the split of each
	// row. Empty ones are "id", "labels" and "split", where the file has such a column.
	IDColumn, ListColumn, SplitColumn string
	// Ignore are patterns on the names of columns that are neither features nor labels.
	Ignore []string
	// IDs are the identifiers of the rows, where the files have none.
	IDs []string
	// Words are the labels in class order; nil takes those of the file. A label that is not among them is
	// an error.
	Words []string
	// Unlabelled leaves labels unread: their columns, where the file has them, are no features. It is for
	// rows whose labels are to be predicted.
	Unlabelled bool
	// Missing allows missing features, which are read as NaN.
	Missing bool
	// Spill is a file, .npy or .safetensors, that the features of a table are written to while it is read,
	// so that they take no memory; they are then read from there. Empty keeps them in memory. Matrices
	// need none.
	Spill string
	// Limit is the most memory that features may take, in bytes, where they cannot stay on disk; 0 is
	// DefaultLimit.
	Limit int64

	// lenient lets patterns and columns be absent: those of Options need only be in one of its files.
	lenient bool
}

// DefaultLimit is the most memory for features that cannot stay on disk: 4 GiB.
const DefaultLimit = 4 << 30

func (o *Options) limit() int64 {
	if o.Limit > 0 {
		return o.Limit
	}
	return DefaultLimit
}

// ofFeatures are the options for the file of features: those about columns with labels count only
// where the labels are in it.
func (o *Options) ofFeatures() *Options {
	own := *o
	if o.Labels != "" && kindOf(o.Labels) != ".xml" {
		own.LabelColumns, own.ListColumn, own.lenient = nil, "", true
	}
	own.lenient = own.lenient || o.Unlabelled
	return &own
}

// ofLabels are the options for a file beside the features. Its words are those that are known.
func (o *Options) ofLabels(file string, known *Labels) *Options {
	own := *o
	own.lenient = true
	if file != o.Labels {
		own.LabelColumns = nil // of true labels and counts, all columns count
	}
	if own.Words == nil && known != nil {
		own.Words = known.Words
	}
	return &own
}

// Names of columns that need no option.
const (
	usualID    = "id"
	usualList  = "labels"
	usualSplit = "split"
)

// layout says what the columns of a table are; -1 for none.
type layout struct {
	id, list, split  int
	labels, features []int
	words            []string // names of the label columns
}

// layout sorts the columns of a table. named are the names of label columns where a list of them is
// given, as an .xml does.
func (o *Options) layout(columns, named []string) (layout, error) {
	l := layout{id: -1, list: -1, split: -1}
	if err := distinct(columns); err != nil {
		return l, err
	}
	labels, err := o.labelColumns(columns, named)
	if err != nil {
		return l, err
	}
	ignored, err := o.matching(columns, o.Ignore, "ignored")
	if err != nil {
		return l, err
	}
	for _, special := range []struct {
		asked, usual, what string
		to                 *int
	}{{o.IDColumn, usualID, "identifiers", &l.id}, {o.ListColumn, usualList, "lists of labels", &l.list}, {o.SplitColumn, usualSplit, "splits", &l.split}} {
		if *special.to, err = o.column(columns, special.asked, special.usual, special.what); err != nil {
			return l, err
		}
		if *special.to >= 0 && special.asked == "" && ignored[*special.to] {
			*special.to = -1
		}
		if *special.to >= 0 && labels[*special.to] {
			if special.asked != "" {
				return l, formatf("column %q is said to be a label and to hold %s", special.asked, special.what)
			}
			*special.to = -1
		}
	}
	for c := range columns {
		switch {
		case labels[c]:
			l.labels = append(l.labels, c)
		case c != l.id && c != l.list && c != l.split && !ignored[c]:
			l.features = append(l.features, c)
		}
	}
	if named != nil { // classes in the order of the list
		slices.SortFunc(l.labels, func(a, b int) int { return slices.Index(named, columns[a]) - slices.Index(named, columns[b]) })
	}
	for _, c := range l.labels {
		l.words = append(l.words, columns[c])
	}
	if l.list >= 0 && len(l.labels) > 0 {
		if o.ListColumn != "" {
			return l, formatf("labels are asked for both in columns of their own and as lists in column %q: choose one", columns[l.list])
		}
		l.list = -1 // a column called labels, which is neither feature nor label then
	}
	return l, nil
}

// labelColumns marks the columns that are labels.
func (o *Options) labelColumns(columns, named []string) ([]bool, error) {
	if named == nil {
		return o.matching(columns, o.LabelColumns, "labels")
	}
	marked := make([]bool, len(columns))
	for _, name := range named {
		at := slices.Index(columns, name)
		if at < 0 && o.lenient {
			continue
		}
		if at < 0 {
			return nil, formatf("there is no column for the label %q; columns are %s", clip(name), some(columns))
		}
		marked[at] = true
	}
	return marked, nil
}

// matching marks columns by patterns, each of which must find one.
func (o *Options) matching(columns, patterns []string, what string) ([]bool, error) {
	marked := make([]bool, len(columns))
	for _, pattern := range patterns {
		found := false
		for c, name := range columns {
			ok, err := path.Match(pattern, name)
			if err != nil {
				return nil, formatf("pattern %q: %v", pattern, err)
			}
			if ok || pattern == name {
				marked[c], found = true, true
			}
		}
		if !found && !o.lenient {
			return nil, formatf("no column matches %q (%s); columns are %s", clip(pattern), what, some(columns))
		}
	}
	return marked, nil
}

// column finds a column that was asked for, else one with the usual name; -1 for none.
func (o *Options) column(columns []string, asked, usual, what string) (int, error) {
	if asked == "" {
		return slices.Index(columns, usual), nil
	}
	at := slices.Index(columns, asked)
	if at < 0 && !o.lenient {
		return -1, formatf("there is no column %q for %s; columns are %s", clip(asked), what, some(columns))
	}
	return at, nil
}

// distinct names the first column that is given twice.
func distinct(columns []string) error {
	first := make(map[string]int, len(columns))
	for c, name := range columns {
		if before, ok := first[name]; ok {
			return formatf("column %d is named %q as column %d is", c+1, clip(name), before+1)
		}
		first[name] = c
	}
	return nil
}

// some lists the first and the last of many names.
func some(names []string) string {
	const shown = 4
	quoted := func(list []string) string {
		out := make([]string, len(list))
		for i, name := range list {
			out[i] = fmt.Sprintf("%q", clip(name))
		}
		return strings.Join(out, ", ")
	}
	if len(names) <= 2*shown {
		return quoted(names)
	}
	return fmt.Sprintf("%s, ..., %s (%d)", quoted(names[:shown]), quoted(names[len(names)-shown:]), len(names))
}
