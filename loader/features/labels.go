package features

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"

	"golang.org/x/text/unicode/norm"

	"nmn/format/table"
)

// Labels are the labels of N rows and K classes.
type Labels struct {
	Words   []string // K, in class order
	Values  []uint8  // N×K, row-major: 0 or 1, or counts; an observed label may be Unknown
	Columns []string // of the table that has them: one for each label, or the one of their lists; nil for arrays
}

// Unknown is the value of an unknown label: -1 or a missing number in the file.
const Unknown = table.Unknown

// labelRule describes the elements of a file of labels: whole numbers from 0 to most, and, if gaps are
// allowed, also Unknown.
type labelRule struct {
	most int
	gaps bool
}

// observedLabels is the rule for the labels to learn.
func observedLabels() labelRule { return labelRule{most: 1, gaps: true} }

// maxLabelMatrix bounds the bytes of labels.
const maxLabelMatrix int64 = 16 << 30

// mostClasses bounds K: beyond it a file is taken for something else.
const mostClasses = 100_000

// labelFile reads a file of labels, with the identifiers of its rows if it has any.
func (o *Options) labelFile(ctx context.Context, name, array string, rule labelRule) (*Labels, []string, error) {
	switch kind := kindOf(name); kind {
	case ".npy", ".npz", ".safetensors":
		rows, err := o.openArray(ctx, name, array)
		if err != nil {
			return nil, nil, err
		}
		labels, err := o.matrixLabels(ctx, name, rows, rule)
		return labels, nil, cmp.Or(err, rows.Close())
	case ".csv", ".tsv", ".parquet", ".arff":
		return o.labelTable(ctx, name, rule)
	default:
		if _, err := os.Stat(name); err != nil {
			return nil, nil, fmt.Errorf("features: labels: %w", err)
		}
		return nil, nil, formatf("features: labels %q: its name ends in %q, want .xml, .npy, .npz, .safetensors, "+
			".csv, .tsv, .parquet or .arff", name, kind)
	}
}

// matrixLabels reads labels from a matrix without names.
func (o *Options) matrixLabels(ctx context.Context, name string, rows Rows, rule labelRule) (*Labels, error) {
	n, k := rows.Len(), rows.Width()
	if isVector(rows) {
		if rule.most > 1 {
			return nil, formatf("features: labels %q: an array of shape [%d], want rows × counts", name, n)
		}
		return o.classNumbers(ctx, name, rows)
	}
	if k > mostClasses {
		return nil, formatf("features: labels %q: %d columns, at most %d can be classes", name, k, mostClasses)
	}
	labels := &Labels{Words: o.Words, Values: make([]uint8, 0, n*k)}
	if labels.Words == nil {
		for c := range k {
			labels.Words = append(labels.Words, "class "+strconv.Itoa(c+1))
		}
	}
	if len(labels.Words) != k {
		return nil, formatf("features: labels %q: %d columns for a vocabulary of %d words", name, k, len(labels.Words))
	}
	row := make([]float32, k)
	for i := range n {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := rows.Read(i, row); err != nil {
			return nil, err
		}
		for c, v := range row {
			z, err := rule.label(v)
			if err != nil {
				return nil, fmt.Errorf("features: labels %q, row %d, column %d: %w", name, i+1, c+1, err)
			}
			labels.Values = append(labels.Values, z)
		}
	}
	return labels, nil
}

// classNumbers reads a vector with the number of each row's class, from 0.
func (o *Options) classNumbers(ctx context.Context, name string, rows Rows) (*Labels, error) {
	d := &decoded{lists: make([][]string, rows.Len()), classes: true}
	var v [1]float32
	for i := range d.lists {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := rows.Read(i, v[:]); err != nil {
			return nil, err
		}
		if v[0] != float32(int(v[0])) {
			return nil, valuef("features: labels %q, row %d: %v is not the number of a class, 0 or more", name, i+1, v[0])
		}
		d.lists[i] = []string{strconv.Itoa(int(v[0]))}
	}
	return o.listLabels(name, d)
}

// labelTable reads a table in which all columns but identifiers are labels, or one with lists.
func (o *Options) labelTable(ctx context.Context, name string, rule labelRule) (*Labels, []string, error) {
	r, err := openRecords(ctx, name)
	if err != nil {
		return nil, nil, err
	}
	d, err := o.labelRecords(ctx, name, r, rule)
	if err = cmp.Or(err, r.close()); err != nil {
		return nil, nil, err
	}
	labels, err := o.labelsOf(name, d, rule)
	return labels, d.ids, err
}

func (o *Options) labelRecords(ctx context.Context, name string, r records, rule labelRule) (*decoded, error) {
	columns := r.columns()
	l, err := o.layout(columns, nil, indexColumn(r))
	if err != nil {
		return nil, fmt.Errorf("features: labels %q: %w", name, err)
	}
	switch {
	case l.list >= 0: // whatever else there is, is not asked for
	case len(l.features) == 1 && o.isLabelName(columns[l.features[0]]) && rule.most == 1 && len(l.labels) == 0:
		l.list, l.inferred = l.features[0], true
	case len(l.labels) == 0:
		l.labels = l.features
		for _, c := range l.labels {
			l.words = append(l.words, columns[c])
		}
		if len(l.labels) == 0 {
			return nil, formatf("features: labels %q: its columns are %s: none can be a label", name, some(columns))
		}
	}
	l.features = nil
	return o.decode(ctx, name, r, l, rule)
}

// labelsOf makes a matrix of a table: from its columns in the order of the vocabulary, or from its lists. It
// is nil if the table has neither.
func (o *Options) labelsOf(name string, d *decoded, rule labelRule) (labels *Labels, err error) {
	defer func() {
		if labels != nil {
			labels.Columns = d.labelled
		}
	}()
	switch {
	case d.lists != nil:
		return o.listLabels(name, d)
	case len(d.words) == 0:
		return nil, nil
	case len(d.words) > mostClasses:
		return nil, formatf("features: labels %q: %d columns, at most %d can be classes", name, len(d.words), mostClasses)
	}
	labels = &Labels{Words: d.words, Values: d.labels}
	if o.JoinLabels {
		labels = labels.joined(o.Words, rule)
		d.words = labels.Words
	}
	if o.Words == nil || slices.Equal(o.Words, d.words) {
		return labels, nil
	}
	return labels.ordered(name, o.Words)
}

// ordered puts the columns into the order of a vocabulary.
func (l *Labels) ordered(name string, words []string) (*Labels, error) {
	at := make(map[string]int, len(l.Words))
	for c, word := range l.Words {
		at[word] = c
	}
	from := make([]int, len(words))
	for k, word := range words {
		c, ok := at[word]
		if !ok {
			return nil, formatf("features: labels %q: no column for the word %q of the vocabulary; columns are %s",
				name, clip(word), some(l.Words))
		}
		from[k] = c
		delete(at, word)
	}
	for _, word := range l.Words {
		if _, left := at[word]; left {
			return nil, formatf("features: labels %q: column %q is not in the vocabulary of %d words; leave it out "+
				"with `data.features.ignore_columns`", name, clip(word), len(words))
		}
	}
	width := len(l.Words)
	values := make([]uint8, 0, len(l.Values))
	for row := range slices.Chunk(l.Values, width) {
		for _, c := range from {
			values = append(values, row[c])
		}
	}
	return &Labels{Words: words, Values: values}, nil
}

// listLabels makes a matrix of lists. Without a vocabulary the words come from the lists, in alphabetic order.
// Names that differ in Unicode normal form alone are one word.
func (o *Options) listLabels(name string, d *decoded) (*Labels, error) {
	words := o.Words
	if words != nil || d.classes {
		if lists, numbers, err := numbered(d.lists, words); err != nil {
			return nil, fmt.Errorf("features: labels %q, %w", name, err)
		} else if numbers {
			d.lists = lists
		}
	}
	if o.JoinLabels {
		joinLists(d.lists, words)
	}
	if words == nil {
		for _, word := range slices.Concat(d.lists...) {
			words = append(words, norm.NFC.String(word))
		}
		if slices.Sort(words); d.classes {
			byNumber(words)
		}
		words = slices.Compact(words)
	}
	if len(words) == 0 || len(words) > mostClasses {
		return nil, formatf("features: labels %q: its lists hold %d different labels, want 1 to %d",
			name, len(words), mostClasses)
	}
	if int64(len(d.lists))*int64(len(words)) > maxLabelMatrix {
		return nil, formatf("features: labels %q: labels of %d rows and %d classes are more than %d GiB", name,
			len(d.lists), len(words), maxLabelMatrix>>30)
	}
	index := make(map[string]int, len(words))
	for k, word := range words {
		index[norm.NFC.String(word)] = k
	}
	labels := &Labels{Words: words, Values: make([]uint8, len(d.lists)*len(words))}
	for i, list := range d.lists {
		for _, word := range list {
			k, ok := index[norm.NFC.String(word)]
			if !ok {
				return nil, valuef("features: labels %q, row %d: the label %q is not in the vocabulary of %d words; "+
					"add it there or take it out here", name, i+1, clip(word), len(words))
			}
			labels.Values[i*len(words)+k] = 1
		}
	}
	return labels, nil
}
