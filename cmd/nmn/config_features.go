package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"nmn/loader"
	"nmn/loader/features"
	"nmn/loader/noise"
)

// featureConfig says where features and their labels are.
type featureConfig struct {
	Train      featureFiles `yaml:"train"`
	Validation featureFiles `yaml:"validation"` // else a share of Train is held out
	Test       featureFiles `yaml:"test"`       // likewise
	IDs        string       `yaml:"ids"`        // file of the identifiers of Train, where the files have none

	Array        string   `yaml:"array"`       // of .npz and .safetensors
	LabelArray   string   `yaml:"label_array"` // likewise
	LabelColumns []string `yaml:"label_columns,flow"`
	ListColumn   string   `yaml:"list_column"`
	IDColumn     string   `yaml:"id_column"`
	SplitColumn  string   `yaml:"split_column"`
	Ignore       []string `yaml:"ignore_columns,flow"`

	// Standardise brings every column to mean 0 and deviation 1 over the training split.
	Standardise bool          `yaml:"standardise"`
	Missing     missingValues `yaml:"missing_values"`
	MemoryLimit float64       `yaml:"memory_limit"` // GiB of features that cannot stay on disk
}

// featureFiles are those of one split.
type featureFiles struct {
	Features string `yaml:"features"`
	Labels   string `yaml:"labels"`
	Truth    string `yaml:"truth"`
	Counts   string `yaml:"counts"`
}

// missingValues says what becomes of features that are missing.
type missingValues string

const (
	missingError missingValues = "error"
	missingMean  missingValues = "mean" // that of the training split
)

// featureDataFlags are those of feature files. Commands with flags of their own called labels, truth and
// counts go without those of the training split.
func featureDataFlags(cmd *cobra.Command, c *config, own bool) {
	f := &c.Data.Features
	r := under(cmd, "Features")
	endings := []string{"npy", "npz", "safetensors", "csv", "tsv", "parquet", "arff", "gz"}
	labels := append([]string{"xml", "jsonl"}, endings...)
	r.file(&f.Train.Features, "features", "`file` of feature vectors to train on, instead of pictures", endings...)
	if own {
		r.file(&f.Train.Labels, "labels", "`file` of their labels: .xml that names columns, a matrix of 0 and 1, or lists (default: columns of the features)", labels...)
		r.file(&f.Train.Truth, "truth", "`file` of their true labels, for evaluation alone", labels...)
	}
	r.file(&f.Validation.Features, "val-features", "`file` of validation features (default: a share of those of training)", endings...)
	r.file(&f.Validation.Labels, "val-labels", "`file` of their labels", labels...)
	r.file(&f.Test.Features, "test-features", "`file` of test features (default: a share of those of training)", endings...)
	r.file(&f.Test.Labels, "test-labels", "`file` of their labels", labels...)
	r.file(&f.Test.Truth, "test-truth", "`file` of their true labels", labels...)
	r.file(&f.Test.Counts, "test-counts", "`file` with the captions of theirs that mention each label (with --captions-per-bag)", labels...)
	r.file(&f.IDs, "ids", "`file` with an identifier for each row of --features", "txt")
	featureColumnFlags(cmd, c)
}

// featureColumnFlags say what is what in a file of features.
func featureColumnFlags(cmd *cobra.Command, c *config) {
	f := &c.Data.Features
	r := under(cmd, "Features")
	r.string(&f.Array, "feature-array", "`name` of the array of features in .npz and .safetensors (default the only one)")
	r.string(&f.LabelArray, "label-array", "`name` of the array of labels there")
	r.strings(&f.LabelColumns, "label-columns", "columns that are labels, as `pattern,...`, for example label_*")
	r.string(&f.ListColumn, "list-column", "`column` with lists of labels, separated by ; or | (default labels)")
	r.string(&f.IDColumn, "id-column", "`column` with identifiers (default id)")
	r.string(&f.SplitColumn, "split-column", "`column` that says train, validation or test (default split)")
	r.strings(&f.Ignore, "ignore-columns", "columns that are neither features nor labels, as `pattern,...`")
	r.bool(&f.Standardise, "standardise", "bring every feature to mean 0 and deviation 1 over the training split")
	enum(r, &f.Missing, "missing-values", "what missing features (empty, ?, NaN) are", missingError, missingMean)
	r.float(&f.MemoryLimit, "memory-limit", "most memory in `GiB` for features that cannot stay on disk (all but .npy, .safetensors, uncompressed .npz)")
}

// options are those of one split. words are the classes, nil for those of the file.
func (f *featureConfig) options(of featureFiles, words []string) features.Options {
	return features.Options{
		Features: of.Features, Labels: of.Labels, Truth: of.Truth, Counts: of.Counts, Words: words,
		Array: f.Array, LabelArray: f.LabelArray, LabelColumns: f.LabelColumns, ListColumn: f.ListColumn, IDColumn: f.IDColumn,
		SplitColumn: f.SplitColumn, Ignore: f.Ignore, Missing: f.Missing == missingMean, Limit: int64(f.MemoryLimit * (1 << 30)),
	}
}

// heldOut are the files of another split than training. A list of label names holds for it too.
func (f *featureConfig) heldOut(of featureFiles) featureFiles {
	if of.Labels == "" && strings.EqualFold(filepath.Ext(f.Train.Labels), ".xml") {
		of.Labels = f.Train.Labels
	}
	return of
}

func (f *featureConfig) validate() error {
	switch {
	case f.Train.Features == "":
		return fmt.Errorf("data.set is features: name the file of features (--features FILE)")
	case f.Missing != missingError && f.Missing != missingMean:
		return fmt.Errorf("data.features.missing_values is %q, want error or mean", f.Missing)
	case f.Missing == missingMean && !f.Standardise:
		return fmt.Errorf("data.features.missing_values is mean, which needs data.features.standardise: the mean is that of the standard")
	case !(f.MemoryLimit > 0 && f.MemoryLimit <= 1<<20):
		return fmt.Errorf("data.features.memory_limit is %g GiB, want more than 0 and at most %d", f.MemoryLimit, 1<<20)
	}
	return nil
}

// flipLevel is label noise by flips: two shares such as 0.3:0.1, the probability that a label that holds
// goes missing, and that one that does not hold is set. Empty flips nothing.
type flipLevel string

// rates are both probabilities.
func (f flipLevel) rates() (missing, incorrect float64, err error) {
	if f == "" {
		return 0, 0, nil
	}
	left, right, two := strings.Cut(string(f), ":")
	for _, part := range []struct {
		text string
		to   *float64
	}{{left, &missing}, {right, &incorrect}} {
		v, bad := number(parseFloat)(strings.TrimSpace(part.text))
		if bad != nil || !two || !(v >= 0 && v <= 1) {
			return 0, 0, fmt.Errorf("flips are %q, want two probabilities missing:incorrect, such as 0.3:0.1", f)
		}
		*part.to = v
	}
	return missing, incorrect, nil
}

// Set and the others make it a flag.
func (f *flipLevel) Set(s string) error {
	if _, _, err := flipLevel(s).rates(); err != nil {
		return err
	}
	*f = flipLevel(s)
	return nil
}

func (f *flipLevel) String() string { return string(*f) }
func (f *flipLevel) Type() string   { return "missing:incorrect" }

// flipRates are the rates of each class at the level of a configuration.
func (c *dataConfig) flipRates(set *loader.Set) (noise.FlipRates, error) {
	if c.FlipRates != "" {
		return noise.ReadFlipRates(c.FlipRates, set.Vocabulary)
	}
	missing, incorrect, err := c.Flips.rates()
	if err != nil {
		return noise.FlipRates{}, err
	}
	return noise.RandomRates(set.Vocabulary.Len(), missing, incorrect, c.FlipSpread, noiseSeed(c)), nil
}
