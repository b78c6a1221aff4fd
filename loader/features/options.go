package features

import "cmp"

// Options say where features, labels and identifiers are.
type Options struct {
	// Features is the file: .npy, .npz, .safetensors, .csv, .tsv, .parquet or .arff; text may be
	// compressed (.gz).
	Features string
	// Labels is a file with labels: an .xml of Mulan that names label columns of Features; a matrix or table
	// of 0 and 1; or a table with a column of label lists. Empty if Features has them.
	Labels string
	// Truth is a file with the true labels, of the same kinds but .xml, for evaluation alone; empty for
	// none.
	Truth  string
	Counts string // a file of whole numbers, N×K: how many captions mention each label; empty for none

	Weights string // a file with a weight for each row; empty for none

	// Array and LabelArray name arrays of .npz and .safetensors; Array may be empty if there is only one.
	Array, LabelArray string
	LabelColumns      []string // patterns (path.Match) on the names of the columns that are labels
	// IDColumn, ListColumn and SplitColumn name columns with identifiers, lists of labels, and the split of
	// each row. Empty ones mean "id", "labels" and "split", if the file has such a column.
	IDColumn, ListColumn, SplitColumn string
	// WeightColumn names the column with the weights of rows, if the file has it; empty for none.
	WeightColumn string
	// Ignore are patterns on the names of columns that are neither features nor labels, FeatureColumns on those that are
	// features though they are called as labels are.
	Ignore, FeatureColumns []string
	IDs                    []string // the identifiers of the rows, if the files have none
	// Words are the labels in class order; nil takes the labels of the file. A label that is not in Words is
	// an error.
	Words []string
	// JoinLabels makes one label of those that differ in case, blanks, hyphens or underscores alone.
	JoinLabels bool
	// Unlabelled skips labels: their columns, if the file has any, are no features. It is for rows whose
	// labels are to be predicted.
	Unlabelled      bool
	LabelsElsewhere bool // set if no column has labels, because they are in a file that is not read
	// Missing allows missing features, which are read as NaN.
	Missing bool
	// Spill is a file, .npy or .safetensors, that the features of a table are written to while it is read,
	// so that they take no memory; they are then read from there. Empty keeps them in memory. Matrices
	// need none.
	Spill string
	Limit int64 // the most memory, in bytes, for features that cannot stay on disk; 0 is DefaultLimit

	// lenient lets patterns and columns be absent: each need only be in one of several files.
	lenient bool
}

// DefaultLimit is the most memory for features that cannot stay on disk: 4 GiB.
const DefaultLimit = 4 << 30

func (o *Options) limit() int64 { return cmp.Or(max(o.Limit, 0), DefaultLimit) }

// ofFeatures returns the options for the file of features: options about columns with labels apply only if
// the labels are in it.
func (o *Options) ofFeatures() *Options {
	own := *o
	if o.Labels != "" && kindOf(o.Labels) != ".xml" {
		own.LabelColumns, own.ListColumn, own.lenient = nil, "", true
	}
	own.lenient = own.lenient || o.Unlabelled
	return &own
}

// ofLabels returns the options for a file of labels next to the features. Its words are the known ones.
func (o *Options) ofLabels(file string, known *Labels) *Options {
	own := *o
	own.lenient, own.Missing = true, true // a missing label is unknown
	if file != o.Labels {
		own.LabelColumns = nil // for true labels and counts, all columns are used
	}
	if own.Words == nil && known != nil {
		own.Words = known.Words
	}
	return &own
}
