package dataset

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"nmn/internal/setting"
	"nmn/loader"
	"nmn/loader/annotation"
	"nmn/loader/features"
	"nmn/text"
)

// FeatureConfig names the files of features and of their labels.
type FeatureConfig struct {
	Train      FeatureFiles `yaml:"train"`
	Validation FeatureFiles `yaml:"validation"` // else a share of Train is held out
	Test       FeatureFiles `yaml:"test"`       // features of the test split and their labels
	IDs        string       `yaml:"ids" help:"<file> with an identifier for each row of the training features"`

	// Weights of the training rows: a file, or a column of the training features.
	Weights      string `yaml:"weights,omitempty" help:"<file> with a weight for each training row, which multiplies its loss"`
	WeightColumn string `yaml:"weight_column,omitempty" help:"<column> of the training features with the weights of rows"`

	Array          string   `yaml:"array" help:"<name> of the features in .npz and .safetensors files; empty if there is one array"`
	LabelArray     string   `yaml:"label_array" help:"<name> of the labels array in .npz and .safetensors files"`
	LabelColumns   []string `yaml:"label_columns,flow" of:"features manifest" help:"columns that are labels, as <pattern,...>, such as label_*"`
	ListColumn     string   `yaml:"list_column" of:"features manifest" help:"<column> that lists all labels of a row; empty detects it"`
	IDColumn       string   `yaml:"id_column" help:"<column> with identifiers; empty is id"`
	SplitColumn    string   `yaml:"split_column" help:"<column> that says train, validation or test; empty is split"`
	Ignore         []string `yaml:"ignore_columns,flow" of:"features manifest" help:"columns that are neither features nor labels, as <pattern,...>"`
	FeatureColumns []string `yaml:"feature_columns,flow,omitempty" help:"columns that are features although their names, such as y, suggest labels, as <pattern,...>"`

	Standardise bool          `yaml:"standardise" help:"scale every feature to mean 0 and deviation 1 over the training split"`
	Missing     MissingValues `yaml:"missing_values" help:"what to do with missing features (empty, ?, NaN): stop, or fill in the column's mean" values:"error,mean"`
	MemoryLimit float64       `yaml:"memory_limit" help:"use at most this many <GiB> of memory for features that cannot stay on disk" range:"(0,1048576]"`
}

// FeatureFiles are the files of one split.
type FeatureFiles struct {
	Features string `yaml:"features" help:"<file> of feature vectors"`
	Labels   string `yaml:"labels" help:"read labels of features from this <file>; a matrix, lists or .xml; empty if among features"`
	Truth    string `yaml:"truth" help:"<file> of true labels, used only for evaluation"`
	Counts   string `yaml:"counts" help:"<file> with the number of captions that mention each label"`
	Captions string `yaml:"captions,omitempty" help:"caption <file>, whose words are the labels of the rows"`
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
		IDColumn: f.IDColumn, SplitColumn: f.SplitColumn, Ignore: f.Ignore, FeatureColumns: f.FeatureColumns,
		Missing: f.Missing == MissingMean, Limit: int64(f.MemoryLimit * (1 << 30)), WeightColumn: f.WeightColumn,
	}
}

// HeldOut are the files of another split than training. A list of label names holds for it too.
func (f *FeatureConfig) HeldOut(of FeatureFiles) FeatureFiles {
	if of.Labels == "" && strings.EqualFold(filepath.Ext(f.Train.Labels), ".xml") {
		of.Labels = f.Train.Labels
	}
	return of
}

// Validate refuses settings that do not go together.
func (f *FeatureConfig) Validate() error {
	if f.Missing == MissingMean && !f.Standardise {
		return errors.New("data.features.missing_values is mean, which needs data.features.standardise: the mean is that " +
			"of the standard")
	}
	return nil
}

// openFeatures reads feature files. The classes come from the vocabulary, or else from the training labels.
func (d *Splits) openFeatures(ctx context.Context, c *Config) error {
	f := &c.Features
	vocabulary, err := knownWords(c)
	if err != nil {
		return err
	}
	whole, table, err := d.featureSet(ctx, c, f.Train, vocabulary, true)
	if err != nil {
		return whereItStarted(err, f.Train.Features)
	}
	if err := refusePackedFeatures(c, whole); err != nil {
		return err
	}
	d.Labels = describeColumns(table)
	if table.Labels != nil { // else they are words of captions
		d.LabelColumns = table.Labels.Columns
	}
	if vocabulary == nil {
		d.noteAlike(whole.Vocabulary)
	}
	shares := *c
	for _, other := range []struct {
		files FeatureFiles
		share *float64
		to    **loader.Set
	}{{f.Validation, &shares.ValidationShare, &d.Validation}, {f.Test, &shares.TestShare, &d.Test}} {
		if other.files.Features == "" {
			continue
		}
		set, its, err := d.featureSet(ctx, c, f.HeldOut(other.files), whole.Vocabulary, false)
		if err != nil {
			return err
		}
		if x, y := table.Rows.Width(), its.Rows.Width(); x != y {
			return fmt.Errorf("%s has %d features and %s has %d: they must be the same", table.Name, x, its.Name, y)
		}
		if err := its.Order(table.Columns, table.Name); err != nil {
			return err
		}
		*other.to, *other.share = set, 0
	}
	d.options.Log.Info("features read", "file", table.Name, "rows", whole.Len(), "features", table.Rows.Width(),
		"on_disk", table.OnDisk)
	switch {
	case table.Splits == nil:
		err = d.holdOut(ctx, &shares, whole)
	case d.Validation != nil || d.Test != nil:
		return fmt.Errorf("%s has a column of splits, and `data.features.validation.features` or "+
			"`data.features.test.features` is given: leave out one (`data.features.ignore_columns` leaves out a column)",
			table.Name)
	default:
		err = d.bySplits(whole, table)
	}
	if err != nil {
		return err
	}
	d.Train.Weights, err = relativeWeights(d.Train.Weights)
	return err
}

// relativeWeights divides weights by their mean, so that learning rates keep their meaning. Equal weights are none.
func relativeWeights(weights []float32) ([]float32, error) {
	sum, equal := 0.0, true
	for _, w := range weights {
		sum, equal = sum+float64(w), equal && w == weights[0]
	}
	if weights != nil && sum == 0 {
		return nil, setting.Errorf("data.features.weights", "the weights of all %d training rows are 0: nothing can be "+
			"learned: give some rows a weight", len(weights))
	}
	if equal {
		return nil, nil
	}
	relative, mean := make([]float32, len(weights)), sum/float64(len(weights))
	for i, w := range weights {
		relative[i] = float32(float64(w) / mean)
	}
	return relative, nil
}

// featureSet opens the files of one split. Files of identifiers and weights are for the training split.
func (d *Splits) featureSet(ctx context.Context, c *Config, files FeatureFiles, v *text.Vocabulary,
	training bool) (*loader.Set, *features.Table, error) {
	var words []string
	if v != nil {
		words = v.Texts()
	}
	o := c.Features.Options(files, words)
	o.JoinLabels = c.JoinLabels
	if training && c.Features.IDs != "" {
		var err error
		if o.IDs, err = loader.ReadIDs(ctx, c.Features.IDs); err != nil {
			return nil, nil, err
		}
	}
	if training {
		o.Weights = c.Features.Weights
	}
	table, err := features.Open(ctx, o)
	if err != nil {
		return nil, nil, err
	}
	d.opened = append(d.opened, table)
	if training {
		if err := c.Features.CheckWeights(table); err != nil {
			return nil, nil, err
		}
	}
	if files.Captions != "" {
		set, err := d.captionedFeatures(ctx, c, files, table, v)
		return set, table, err
	}
	name, _, _ := strings.Cut(filepath.Base(files.Features), ".")
	set, err := loader.FeatureSet(name, table, v)
	if err != nil {
		return nil, nil, err
	}
	if table.Labels == nil {
		return nil, nil, fmt.Errorf("%s: there are no labels for %s: name their file or columns", name, files.Features)
	}
	if table.Counts != nil {
		set.CaptionsPerSample = c.CaptionsPerSample
	}
	return set, table, nil
}

// captionedFeatures joins rows of features with the captions of their pictures: by identifier if the rows have some,
// else by order. Rows of pictures without captions are left out.
func (d *Splits) captionedFeatures(ctx context.Context, c *Config, files FeatureFiles, table *features.Table,
	v *text.Vocabulary) (*loader.Set, error) {
	captions, err := annotation.ReadBags(ctx, files.Captions)
	if err != nil {
		return nil, whereItStarted(err, files.Captions)
	}
	logCaptions(d.options.Log, captions)
	if v == nil {
		if v, err = openVocabulary(c, captions.Texts(c.CaptionsPerSample)); err != nil {
			return nil, fmt.Errorf("captions %q: %w", captions.Name, err)
		}
	}
	set, _, err := captions.Set(v, annotation.SetOptions{CaptionsPerSample: c.CaptionsPerSample})
	if err != nil {
		return nil, err
	}
	of := captions.IDs // of each row
	if table.IDs != nil {
		of = table.IDs
		if captions.Form == annotation.FormCOCO {
			of = annotation.COCOIDs(of)
		}
	} else if n := table.Rows.Len(); n != len(of) {
		return nil, fmt.Errorf("%s has %d rows, and %s has %d pictures: give a row for each picture in their order, or the "+
			"pictures of the rows (`data.features.ids`)", table.Name, n, captions.Name, len(of))
	}
	at := make(map[string]int, len(of))
	for row, id := range of {
		at[id] = row
	}
	rows := make([]int, set.Len())
	for i, id := range set.IDs {
		row, ok := at[id]
		if !ok {
			return nil, fmt.Errorf("%s has no row for picture %.60q of %s", table.Name, id, captions.Name)
		}
		rows[i] = row
	}
	all, err := loader.FeatureSet(set.Name, table, v)
	if err != nil {
		return nil, err
	}
	chosen, err := loader.Subset(all, set.Name, rows)
	if err != nil {
		return nil, err
	}
	set.Vectors, set.Columns, set.Weights = chosen.Vectors, chosen.Columns, chosen.Weights
	return set, nil
}

// CheckWeights refuses training features that lack the column of weights.
func (f *FeatureConfig) CheckWeights(t *features.Table) error {
	if f.WeightColumn == "" || t.Weights != nil {
		return nil
	}
	return setting.Errorf("data.features.weight_column",
		"%s has no column %q for the weights of rows: give the name of a column of the training features", t.Name,
		f.WeightColumn)
}

// bySplits splits a set by a column with the split of each row.
func (d *Splits) bySplits(whole *loader.Set, table *features.Table) error {
	d.originalIDs = whole.IDs
	rows := map[string][]int{}
	for i, written := range table.Splits {
		split, ok := loader.SplitNamed(written)
		if !ok {
			return fmt.Errorf("%s: the split of %s is %q, want train, validation or test", table.Name, whole.IDs[i], written)
		}
		rows[split] = append(rows[split], i)
	}
	return d.take(whole, rows)
}

// describeColumns returns how each column was interpreted, as text.
func describeColumns(t *features.Table) string {
	where := "in memory"
	if t.OnDisk {
		where = "read from disk by rows"
	}
	line := fmt.Sprintf("%d features, %s", t.Rows.Width(), where)
	if t.Columns != nil {
		line += ": " + Abridged(t.Columns)
	}
	if t.Weights != nil {
		line += fmt.Sprintf("\n        weights of rows from %g to %g", slices.Min(t.Weights), slices.Max(t.Weights))
	}
	if t.Labels != nil {
		line += "\n        labels " + Abridged(t.Labels.Words)
		if n := bytes.Count(t.Labels.Values, []byte{features.Unknown}); n > 0 {
			line += fmt.Sprintf("; %.1f %% of them are unknown, and left out", 100*float64(n)/float64(len(t.Labels.Values)))
		}
	}
	return line
}

// Abridged lists names; if there are many, the first and the last.
func Abridged(names []string) string {
	const shown = 6
	if len(names) <= shown+1 {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:shown], ", ") + ", ..., " + names[len(names)-1]
}

// DescribeOneSided explains labels that hold on no row or on every row; empty if there are none.
func DescribeOneSided(never, always []string) string {
	var parts []string
	if never != nil {
		parts = append(parts, fmt.Sprintf("%d on no row: %s", len(never), Abridged(never)))
	}
	if always != nil {
		parts = append(parts, fmt.Sprintf("%d on every row: %s", len(always), Abridged(always)))
	}
	if parts == nil {
		return ""
	}
	return strings.Join(parts, "; ") + ". Nothing can be learned or measured for them"
}

// refusePackedFeatures is refusePacked for the labels of feature files.
func refusePackedFeatures(c *Config, whole *loader.Set) error {
	words := whole.Vocabulary.Texts()
	return refusePacked(c, words, loader.OneEach(whole.Labels), func(label string) string {
		values, k, class := whole.Labels.Uint8s(), len(words), slices.Index(words, label)
		for row, id := range whole.IDs {
			if values[row*k+class] == 1 {
				return fmt.Sprintf("%s, row %d (%s)", c.Features.Train.Features, row+1, id)
			}
		}
		return c.Features.Train.Features
	})
}
