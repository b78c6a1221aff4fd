package features

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"nmn/internal/input"
)

// Table is a file of features with the labels and identifiers of its rows.
type Table struct {
	Name    string    // the file
	Rows    Rows      // N×D
	Columns []string  // names of the columns that the features are from; nil where the file has none
	IDs     []string  // N distinct identifiers; nil if the file has none
	Splits  []string  // N names of splits; nil for none
	Labels  *Labels   // observed labels; nil if there are none
	Truth   *Labels   // true, for evaluation; nil where not known
	Counts  *Labels   // captions that mention each word; nil where not known
	Weights []float32 // N, at least 0; nil for none
	// OnDisk reports whether features are read when they are asked for.
	OnDisk bool
	// Spilled reports whether they are in Options.Spill.
	Spilled bool
}

// Close closes the files.
func (t *Table) Close() error { return t.Rows.Close() }

// Open opens features, labels, and whatever else the options name. All must be regular files. When ctx ends, so does
// reading; rows that stay on disk can be read after that.
func Open(ctx context.Context, o Options) (*Table, error) {
	t, err := o.openFeatures(ctx)
	if err != nil {
		return nil, err
	}
	if isVector(t.Rows) {
		return nil, errors.Join(formatf("features: %q: an array of shape [%d], want rows × numbers", o.Features,
			t.Rows.Len()), t.Close())
	}
	if err := cmp.Or(o.addLabels(ctx, t), o.addWeights(ctx, t)); err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return t, nil
}

// openFeatures opens the file of features, with the labels inside of it.
func (o *Options) openFeatures(ctx context.Context) (*Table, error) {
	switch kind := kindOf(o.Features); kind {
	case ".npy", ".npz", ".safetensors":
		rows, err := o.openArray(ctx, o.Features, o.Array)
		if err != nil {
			return nil, err
		}
		_, onDisk := rows.(*fileRows)
		return &Table{Name: o.Features, Rows: rows, OnDisk: onDisk}, nil
	case ".csv", ".tsv", ".parquet", ".arff":
		return o.openTable(ctx)
	default:
		return nil, formatf(
			"features: %q: its name ends in %q, want .npy, .npz, .safetensors, .csv, .tsv, .parquet or .arff",
			o.Features, kind)
	}
}

func (o *Options) openArray(ctx context.Context, name, array string) (Rows, error) {
	switch kindOf(name) {
	case ".npz":
		return openNPZ(ctx, name, array, o)
	case ".safetensors":
		return openTensor(name, array, o.Missing)
	}
	if array != "" {
		return nil, formatf("features: %q is one array without a name: leave out `data.features.array` and "+
			"`data.features.label_array`",
			name)
	}
	return openNPY(ctx, name, o.Missing)
}

// openedRecords are records in an open file.
type openedRecords struct {
	records
	file *input.File
}

// openRecords opens a table.
func openRecords(ctx context.Context, name string) (opened *openedRecords, err error) {
	opened = new(openedRecords)
	var text *bufio.Reader
	kind := kindOf(name)
	if kind == ".parquet" {
		opened.file, err = openRegular(ctx, name)
	} else {
		text, opened.file, err = openText(ctx, name)
	}
	if err != nil {
		return nil, err
	}
	switch kind {
	case ".parquet":
		opened.records, err = newParquet(opened.file, opened.file.Size())
	case ".arff":
		opened.records, err = newARFF(text)
	default:
		opened.records, err = newCSV(text, maxLine, false)
	}
	if err != nil {
		_ = opened.file.Close() // it was only read
		return nil, fmt.Errorf("features: %q: %w", name, err)
	}
	return opened, nil
}

func (o *openedRecords) close() error {
	if table, ok := o.records.(*parquetRecords); ok {
		return errors.Join(table.Close(), o.file.Close())
	}
	return o.file.Close()
}

func (o *Options) openTable(ctx context.Context) (*Table, error) {
	r, err := openRecords(ctx, o.Features)
	if err != nil {
		return nil, err
	}
	d, err := o.featureRecords(ctx, r.records)
	if err = cmp.Or(err, r.close()); err != nil {
		return nil, err
	}
	t := &Table{
		Name:    o.Features,
		Rows:    d.kept,
		Columns: d.names,
		IDs:     d.ids,
		Splits:  d.splits,
		Weights: d.weights,
	}
	if t.Labels, err = o.labelsOf(o.Features, d, observedLabels()); err != nil || o.Spill == "" {
		return t, err
	}
	t.OnDisk, t.Spilled = true, true
	t.Rows, err = o.openArray(ctx, o.Spill, "")
	return t, err
}

func (o *Options) featureRecords(ctx context.Context, r records) (*decoded, error) {
	named, err := o.namedLabels(ctx, r)
	if err != nil {
		return nil, err
	}
	l, err := o.ofFeatures().layout(r.columns(), named, indexColumn(r))
	if err != nil {
		return nil, fmt.Errorf("features: %q: %w", o.Features, err)
	}
	if err := o.infer(r.columns(), &l); err != nil {
		return nil, fmt.Errorf("features: %q: %w", o.Features, err)
	}
	if o.Unlabelled {
		l.labels, l.words, l.list = nil, nil, -1
	}
	if len(l.features) == 0 {
		return nil, formatf("features: %q: no column is left for features; columns are %s", o.Features, some(r.columns()))
	}
	columns := r.columns()
	for _, c := range l.features {
		if name := columns[c]; isIndexName(name) && !slices.Contains(o.FeatureColumns, name) {
			return nil, formatf("features: %q: column %d (%s) is an index that pandas wrote, and no feature: leave it out "+
				"(`data.features.ignore_columns` %s)", o.Features, c+1, clip(name), clip(name))
		}
	}
	d, err := o.decode(ctx, o.Features, r, l, observedLabels())
	if err != nil {
		return nil, err
	}
	for _, c := range l.features {
		d.names = append(d.names, d.columns[c])
	}
	return d, nil
}

// namedLabels are the names of label columns that an .xml or the name of a relation gives; nil for none.
func (o *Options) namedLabels(ctx context.Context, r records) ([]string, error) {
	if kindOf(o.Labels) == ".xml" {
		return readLabelXML(ctx, o.Labels)
	}
	if a, ok := r.(*arffRecords); ok && len(o.LabelColumns) == 0 && o.Labels == "" {
		return a.meka(), nil
	}
	return nil, nil
}

// addLabels reads the files of labels next to the features.
func (o *Options) addLabels(ctx context.Context, t *Table) error {
	if o.IDs != nil {
		if t.IDs != nil {
			return formatf("features: identifiers are given and %q has some too: leave out one", t.Name)
		}
		t.IDs = slices.Clone(o.IDs)
		if err := t.checkIDs(); err != nil {
			return err
		}
	}
	if o.Unlabelled {
		return nil
	}
	labels := o.Labels
	if labels == "" && o.LabelArray != "" {
		labels = o.Features
	}
	for _, file := range []struct {
		name, array string
		rule        labelRule
		to          **Labels
	}{{labels, o.LabelArray, observedLabels(), &t.Labels}, {o.Truth, "", labelRule{most: 1}, &t.Truth},
		{o.Counts, "", labelRule{most: mostCount}, &t.Counts}} {
		if file.name == "" || kindOf(file.name) == ".xml" {
			continue
		}
		if *file.to != nil {
			return formatf("features: %q has labels and so has %q: leave out one", t.Name, file.name)
		}
		read, ids, err := o.ofLabels(file.name, t.Labels).labelFile(ctx, file.name, file.array, file.rule)
		if err != nil {
			return err
		}
		if *file.to, err = t.join(file.name, read, ids); err != nil {
			return err
		}
	}
	return nil
}

// mostCount is the largest count of captions.
const mostCount = 255

func (t *Table) checkIDs() error {
	if len(t.IDs) != t.Rows.Len() {
		return formatf("features: %d identifiers for the %d rows of %q", len(t.IDs), t.Rows.Len(), t.Name)
	}
	seen := make(map[string]string, len(t.IDs))
	for i, id := range t.IDs {
		if err := checkID(id, seen, fmt.Sprintf("row %d", i+1)); err != nil {
			return fmt.Errorf("features: %q, row %d: %w", t.Name, i+1, err)
		}
	}
	return nil
}

// join brings labels into the order of the rows: by identifiers if both have some, otherwise the orders must
// be equal.
func (t *Table) join(name string, l *Labels, ids []string) (*Labels, error) {
	k := len(l.Words)
	places, err := t.places(name, len(l.Values)/k, ids)
	if err != nil || places == nil {
		return l, err
	}
	joined := &Labels{Words: l.Words, Values: make([]uint8, 0, len(places)*k)}
	for _, row := range places {
		joined.Values = append(joined.Values, l.Values[row*k:(row+1)*k]...)
	}
	return joined, nil
}

// places finds the row of a file for each row of the table; nil if the orders are equal.
func (t *Table) places(name string, rows int, ids []string) ([]int, error) {
	n := t.Rows.Len()
	if ids == nil || t.IDs == nil {
		if rows != n {
			return nil, formatf("features: %q has %d rows, the features in %q have %d: both need the same rows in "+
				"the same order, or identifiers", name, rows, t.Name, n)
		}
		if t.IDs == nil {
			t.IDs = ids
		}
		return nil, nil
	}
	at, places := positions(ids), make([]int, n)
	for i, id := range t.IDs {
		row, ok := at[id]
		if !ok { // pandas writes 3 as 3.0 next to a gap
			row, ok = at[strings.TrimSuffix(id, ".0")]
		}
		if !ok {
			row, ok = at[id+".0"]
		}
		if !ok {
			return nil, formatf("features: %q has no row for %q, which is row %d of %q", name, clip(id), i+1, t.Name)
		}
		places[i] = row
	}
	return places, nil
}
