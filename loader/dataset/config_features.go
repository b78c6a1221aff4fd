package dataset

import (
	"path/filepath"
	"strings"

	"nmn/loader/features"
)

// FeatureConfig names the files of features and of their labels.
type FeatureConfig struct {
	Train      FeatureFiles `yaml:"train"`
	Validation FeatureFiles `yaml:"validation"` // else a share of Train is held out
	Test       FeatureFiles `yaml:"test"`       // features of the test split and their labels
	IDs        string       `yaml:"ids" help:"<file> with an identifier for each row of the training features"`

	Array        string   `yaml:"array" help:"<name> of the features in .npz and .safetensors files; empty if there is one array"`
	LabelArray   string   `yaml:"label_array" help:"<name> of the labels array in .npz and .safetensors files"`
	LabelColumns []string `yaml:"label_columns,flow" of:"features manifest" help:"columns that are labels, as <pattern,...>, such as label_*"`
	ListColumn   string   `yaml:"list_column" of:"features manifest" help:"<column> that lists all labels of a row; empty detects it"`
	IDColumn     string   `yaml:"id_column" help:"<column> with identifiers; empty is id"`
	SplitColumn  string   `yaml:"split_column" help:"<column> that says train, validation or test; empty is split"`
	Ignore       []string `yaml:"ignore_columns,flow" of:"features manifest" help:"columns that are neither features nor labels, as <pattern,...>"`
	// FeatureColumns are features though they are called as labels are, such as y.
	FeatureColumns []string `yaml:"feature_columns,flow,omitempty" help:"columns that are features although their names, such as y, suggest labels, as <pattern,...>"`

	// Standardise brings every column to mean 0 and deviation 1 over the training split.
	Standardise bool          `yaml:"standardise" help:"scale every feature to mean 0 and deviation 1 over the training split"`
	Missing     MissingValues `yaml:"missing_values" help:"what to do with missing features (empty, ?, NaN): stop, or fill in the column's mean" values:"error,mean"`
	MemoryLimit float64       `yaml:"memory_limit" help:"use at most this many <GiB> of memory for features that cannot stay on disk" range:"(0,1048576]"`
}

// FeatureFiles are the files of one split.
type FeatureFiles struct {
	Features string `yaml:"features" help:"<file> of feature vectors"`
	Labels   string `yaml:"labels" help:"<file> of labels: a 0/1 matrix, lists, or .xml with column names; empty if among features"`
	Truth    string `yaml:"truth" help:"<file> of true labels, used only for evaluation"`
	Counts   string `yaml:"counts" help:"<file> with the number of captions that mention each label"`
}

// MissingValues selects how missing features are handled.
type MissingValues string

// The choices for missing values.
const (
	MissingError MissingValues = "error" // it is an error
	MissingMean  MissingValues = "mean"  // mean of the training split
)

// Options returns the options for reading the files of one split. words are the classes, nil for the classes
// of the file.
func (f *FeatureConfig) Options(of FeatureFiles, words []string) features.Options {
	return features.Options{
		Features: of.Features, Labels: of.Labels, Truth: of.Truth, Counts: of.Counts, Words: words,
		Array: f.Array, LabelArray: f.LabelArray, LabelColumns: f.LabelColumns, ListColumn: f.ListColumn,
		IDColumn:    f.IDColumn,
		SplitColumn: f.SplitColumn, Ignore: f.Ignore, FeatureColumns: f.FeatureColumns, Missing: f.Missing == MissingMean,
		Limit: int64(f.MemoryLimit * (1 << 30)),
	}
}

// HeldOut are the files of another split than training. A list of label names holds for it too.
func (f *FeatureConfig) HeldOut(of FeatureFiles) FeatureFiles {
	if of.Labels == "" && strings.EqualFold(filepath.Ext(f.Train.Labels), ".xml") {
		of.Labels = f.Train.Labels
	}
	return of
}
