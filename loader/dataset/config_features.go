package dataset

import (
	"path/filepath"
	"strings"

	"nmn/loader/features"
)

// FeatureConfig says where features and their labels are.
type FeatureConfig struct {
	Train      FeatureFiles `yaml:"train"`
	Validation FeatureFiles `yaml:"validation"` // else a share of Train is held out
	Test       FeatureFiles `yaml:"test"`       // likewise
	IDs        string       `yaml:"ids"`        // file of the identifiers of Train, where the files have none

	Array        string   `yaml:"array"`       // of .npz and .safetensors
	LabelArray   string   `yaml:"label_array"` // likewise
	LabelColumns []string `yaml:"label_columns,flow"`
	ListColumn   string   `yaml:"list_column"`
	IDColumn     string   `yaml:"id_column"`
	SplitColumn  string   `yaml:"split_column"`
	Ignore       []string `yaml:"ignore_columns,flow"`
	// FeatureColumns are features though they are called as labels are, such as y.
	FeatureColumns []string `yaml:"feature_columns,flow,omitempty"`

	// Standardise brings every column to mean 0 and deviation 1 over the training split.
	Standardise bool          `yaml:"standardise"`
	Missing     MissingValues `yaml:"missing_values"`
	MemoryLimit float64       `yaml:"memory_limit"` // GiB of features that cannot stay on disk
}

// FeatureFiles are the files of one split.
type FeatureFiles struct {
	Features string `yaml:"features"`
	Labels   string `yaml:"labels"`
	Truth    string `yaml:"truth"`
	Counts   string `yaml:"counts"`
}

// MissingValues says what becomes of features that are missing.
type MissingValues string

// The choices for missing values.
const (
	MissingError MissingValues = "error" // it is an error
	MissingMean  MissingValues = "mean"  // that of the training split
)

// Options say how the files of one split are read. words are the classes, nil for those of the file.
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
