package main

import (
	"github.com/spf13/cobra"

	"nmn/loader/dataset"
	"nmn/run"
)

// featureDataFlags are those of feature files. Commands with flags of their own called labels, truth and
// counts go without those of the training split.
func featureDataFlags(cmd *cobra.Command, c *run.Config, own bool) {
	f := &c.Data.Features
	r := under(cmd, "Features")
	endings := []string{"npy", "npz", "safetensors", "csv", "tsv", "parquet", "arff", "gz"}
	labels := append([]string{"xml", "jsonl"}, endings...)
	r.file(&f.Train.Features, "features", "`file` of feature vectors to train on, instead of pictures", endings...)
	if own {
		r.file(&f.Train.Labels, "labels", "`file` of their labels: .xml that names columns, a matrix of 0 and 1, or "+
			"lists (default: columns of the features)", labels...)
		r.file(&f.Train.Truth, "truth", "`file` of their true labels, for evaluation alone", labels...)
	}
	r.file(&f.Validation.Features, "val-features", "`file` of validation features (default: a share of those of "+
		"training)", endings...)
	r.file(&f.Validation.Labels, "val-labels", "`file` of their labels", labels...)
	r.file(&f.Test.Features, "test-features", "`file` of test features (default: a share of those of "+
		"training)", endings...)
	r.file(&f.Test.Labels, "test-labels", "`file` of their labels", labels...)
	r.file(&f.Test.Truth, "test-truth", "`file` of their true labels", labels...)
	r.file(&f.Test.Counts, "test-counts", "`file` with the captions of theirs that mention each label (with "+
		"--captions-per-bag)", labels...)
	r.file(&f.IDs, "ids", "`file` with an identifier for each row of --features", "txt")
	featureColumnFlags(cmd, c)
}

// featureColumnFlags say what is what in a file of features.
func featureColumnFlags(cmd *cobra.Command, c *run.Config) {
	f := &c.Data.Features
	r := under(cmd, "Features")
	r.string(&f.Array, "feature-array", "`name` of the array of features in .npz and .safetensors (default the only "+
		"one)")
	r.string(&f.LabelArray, "label-array", "`name` of the array of labels there")
	r.strings(&f.LabelColumns, "label-columns", "columns that are labels, as `pattern,...`, for example label_*")
	r.string(&f.ListColumn, "list-column", "`column` that states all labels of a row, as lists, names or numbers of "+
		"classes (default labels, else label, tags, class, target, y and the like)")
	r.string(&f.IDColumn, "id-column", "`column` with identifiers (default id)")
	r.string(&f.SplitColumn, "split-column", "`column` that says train, validation or test (default split)")
	r.strings(&f.Ignore, "ignore-columns", "columns that are neither features nor labels, as `pattern,...`")
	r.strings(&f.FeatureColumns, "feature-columns", "columns that are features though they are called as labels are "+
		"(y, class, ...), as `pattern,...`")
	r.bool(&f.Standardise, "standardise", "bring every feature to mean 0 and deviation 1 over the training split")
	enum(r, &f.Missing, "missing-values", "what missing features (empty, ?, NaN) "+
		"are", dataset.MissingError, dataset.MissingMean)
	r.float(&f.MemoryLimit, "memory-limit", "most memory in `GiB` for features that cannot stay on disk (all but "+
		".npy, .safetensors, uncompressed .npz)")
}
