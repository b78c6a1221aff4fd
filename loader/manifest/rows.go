package manifest

import (
	"errors"
	"fmt"
	slashed "path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"nmn/internal/visible"
	"nmn/loader"
)

// builder checks rows and keeps them.
type builder struct {
	manifest *Manifest
	labels   map[string]int32
	ids      map[string]int // rows by their identifiers
	files    map[string]int // rows by their files, if rows may state one label each and have identifiers
	folders  []string       // absolute names of the folder of the pictures
	stated   *statement     // how labels are stated; nil if that does not matter to rows of one picture
	paired   bool           // some rows state further labels of a picture
	byFile   bool           // identifiers differ between rows of one picture
}

func newBuilder(name, folder string) *builder {
	b := &builder{manifest: &Manifest{File: name, Folder: folder}, labels: map[string]int32{}, ids: map[string]int{},
		files: map[string]int{}}
	if folder == "" {
		return b
	}
	if whole, err := filepath.Abs(folder); err == nil {
		b.folders = append(b.folders, whole)
		if real, err := filepath.EvalSymlinks(whole); err == nil && real != whole {
			b.folders = append(b.folders, real)
		}
	}
	return b
}

// inFolder returns a path relative to the folder of the pictures, if it is an absolute path inside it.
func (b *builder) inFolder(file string) string {
	native := filepath.FromSlash(file)
	if !filepath.IsAbs(native) {
		return file
	}
	for _, folder := range b.folders {
		if inside, err := filepath.Rel(folder, native); err == nil && filepath.IsLocal(inside) {
			return filepath.ToSlash(inside)
		}
	}
	return file
}

// columnError names the column of a row that is wrong.
func columnError(column string, err error) error { return fmt.Errorf("column %q: %w", column, err) }

func (b *builder) add(r *record) error {
	if len(b.manifest.Rows) == maxRows {
		return fmt.Errorf("more than %d rows", maxRows)
	}
	row := Row{Line: r.line}
	r.path = b.inFolder(r.path)
	for i, file := range r.frames {
		r.frames[i] = b.inFolder(file)
	}
	if err := row.place(r); err != nil {
		return err
	}
	if r.denied {
		b.manifest.Denied++
		r.labels = nil
	}
	if err := b.split(&row, r); err != nil {
		return columnError(r.column(splitColumn), err)
	}
	var err error
	if row.Labels, err = b.indices(r.labels); err != nil {
		return columnError(r.column(labelsColumn), err)
	}
	if r.truth != nil {
		if row.Truth, err = b.indices(r.truth); err != nil {
			return columnError(r.column(truthColumn), err)
		}
	}
	if r.counts != nil {
		if row.Counts, err = b.counts(r.counts); err != nil {
			return columnError(r.column(countsColumn), err)
		}
	}
	if at, ok := b.earlier(&row, r); ok {
		return b.again(at, &row, r)
	}
	b.keep(row, r)
	return nil
}

// place takes files and identifier.
func (row *Row) place(r *record) error {
	column := r.column(pathColumn)
	switch {
	case r.hasPath && r.frames != nil:
		return columnError(r.column(framesColumn),
			errors.New("there is a path too; a row is one picture or one list of frames"))
	case r.hasPath:
		row.Files = []string{r.path}
	case len(r.frames) > 0:
		row.Files, column = r.frames, r.column(framesColumn)
	default:
		return columnError(column, errors.New("it is missing; name the picture, or its frames in frames"))
	}
	if slices.Contains(row.Files, "") {
		return columnError(column, errors.New("it is empty; name the picture, or remove the row"))
	}
	if row.ID = r.id; row.ID == "" {
		row.ID = row.Files[0]
	}
	if err := CheckName(row.ID); err != nil {
		row.ID, row.fault = visible.Line(row.ID), err
	}
	return nil
}

// insidePath refuses paths that lead out of the folder of the pictures: annotations come with their pictures.
func insidePath(file string) error {
	switch {
	case slashed.IsAbs(file) || filepath.IsAbs(filepath.FromSlash(file)):
		return fmt.Errorf("%q is absolute; write the name of a picture in the folder", loader.Excerpt(file))
	case !filepath.IsLocal(filepath.FromSlash(file)):
		return fmt.Errorf("%q leads out of the folder of the pictures; move the picture into it", loader.Excerpt(file))
	}
	return nil
}

// split takes the split of a row. All rows have one, or none.
func (b *builder) split(row *Row, r *record) error {
	if r.split != "" {
		var ok bool
		if row.Split, ok = loader.SplitNamed(r.split); !ok {
			return fmt.Errorf("%q is no split; want train, validation or test", loader.Excerpt(r.split))
		}
	}
	if rows := b.manifest.Rows; len(rows) > 0 && (rows[0].Split == "") != (row.Split == "") {
		has, lacks := rows[0].At(), row.At()
		if row.Split != "" {
			has, lacks = lacks, has
		}
		return fmt.Errorf("%s has a split and %s has none; give all rows one, or none", has, lacks)
	}
	return nil
}

// indices returns the indices of labels, ascending; a label given twice counts once.
func (b *builder) indices(names []string) ([]int32, error) {
	list := make([]int32, 0, len(names))
	for _, name := range names {
		k, err := b.label(name)
		if err != nil {
			return nil, err
		}
		list = append(list, k)
	}
	slices.Sort(list)
	return slices.Clip(slices.Compact(list)), nil
}

// label is the index of a name. Names that differ in Unicode normal form alone are one label.
func (b *builder) label(name string) (int32, error) {
	name = norm.NFC.String(name)
	if k, ok := b.labels[name]; ok {
		return k, nil
	}
	if err := CheckLabel(name); err != nil {
		return 0, err
	}
	k, name := int32(len(b.manifest.Labels)), strings.Clone(name)
	b.manifest.Labels, b.labels[name] = append(b.manifest.Labels, name), k
	return k, nil
}

func (b *builder) counts(named []namedCount) ([]LabelCount, error) {
	list, seen := make([]LabelCount, 0, len(named)), make(map[int32]bool, len(named))
	for _, n := range named {
		k, err := b.label(n.name)
		if err != nil {
			return nil, err
		}
		if n.count < 0 || n.count > loader.MaxCaptions {
			return nil, fmt.Errorf("%q has the count %d, want 0 to %d", loader.Excerpt(n.name), n.count, loader.MaxCaptions)
		}
		if seen[k] {
			return nil, fmt.Errorf("%q is counted twice; add the counts", loader.Excerpt(n.name))
		}
		list, seen[k] = append(list, LabelCount{k, uint8(n.count)}), true
	}
	return list, nil
}

// CheckLabel refuses text that cannot be the name of a label: text that CheckName refuses, NaN, and whole
// lists that were not split.
func CheckLabel(name string) error {
	switch err := CheckName(name); {
	case err != nil:
		return err
	case name == "NaN" || name == "nan":
		return fmt.Errorf("%s is what programs write for a missing value; leave the cell empty if there is no label", name)
	case len(name) > maxLabel:
		return fmt.Errorf("the label %q has %d bytes, at most %d can be a name; separate labels by ; or |",
			loader.Excerpt(name), len(name), maxLabel)
	}
	return nil
}

// CheckName refuses text that a line of a vocabulary or of a list of identifiers could not hold.
func CheckName(name string) error {
	switch {
	case name == "":
		return errors.New("a name is empty; remove it, or the separator next to it")
	case !utf8.ValidString(name):
		return fmt.Errorf("%q is not UTF-8; save the file in that encoding", loader.Excerpt(name))
	case strings.ContainsFunc(name, unicode.IsControl) || loader.TrimID(name) != name:
		return fmt.Errorf("%q holds a control character, or begins or ends with a blank; remove it", loader.Excerpt(name))
	}
	return nil
}

// pairs reports whether rows of one picture may each state one of its labels.
func (b *builder) pairs() bool { return b.stated != nil && b.stated.pairs }

// earlier returns the earlier row with the same identifier, or with the same picture if rows may give one label each.
func (b *builder) earlier(row *Row, r *record) (at int, ok bool) {
	if r.id != "" && len(row.Files) == 1 {
		if at, ok = b.files[row.Files[0]]; ok {
			return at, true
		}
	}
	at, ok = b.ids[row.ID]
	return at, ok
}

func (b *builder) keep(row Row, r *record) {
	at := len(b.manifest.Rows)
	b.ids[row.ID] = at
	if b.pairs() {
		if len(row.Files) == 1 && r.id != "" {
			b.files[row.Files[0]] = at
		}
	}
	b.manifest.Rows = append(b.manifest.Rows, row)
}

// again handles a row of a picture that an earlier row has: it repeats that row, or gives another label.
func (b *builder) again(at int, row *Row, r *record) error {
	first := &b.manifest.Rows[at]
	name := loader.Excerpt(row.ID)
	if r.line == 0 {
		return fmt.Errorf("the picture %q is described twice; remove one of the two", name)
	}
	known := row.Truth != nil || row.Counts != nil || first.Truth != nil || first.Counts != nil
	same := slices.Equal(first.Labels, row.Labels) && slices.Equal(first.Truth, row.Truth) &&
		(first.Truth == nil) == (row.Truth == nil) && slices.Equal(first.Counts, row.Counts) &&
		(first.Counts == nil) == (row.Counts == nil)
	more, one := b.pairs() && !known, b.stated != nil && (b.stated.form == FormSingle || b.stated.form == FormIntegers)
	switch {
	case !slices.Equal(first.Files, row.Files):
		return columnError(r.idColumn(), fmt.Errorf("%q repeats line %d, which has another picture; give each row an id "+
			"of its own", name, first.Line))
	case first.Split != row.Split:
		return columnError(r.column(splitColumn), fmt.Errorf("%q is in another split on line %d; a picture is in one", name,
			first.Line))
	case !same && !more && one && !known:
		return columnError(r.idColumn(), fmt.Errorf("%q repeats line %d with another label; remove one of the rows, or if "+
			"each row has one of several labels, set `data.label_form` %s", name, first.Line, FormPairs))
	case !same && !more:
		return columnError(r.idColumn(), fmt.Errorf("%q repeats line %d with other content; make one row of the two",
			name, first.Line))
	}
	b.byFile = b.byFile || first.ID != row.ID
	if has := len(row.Labels) == 0 || slices.Contains(first.Labels, row.Labels[0]); more && !has {
		first.Labels = append(slices.Clone(first.Labels), row.Labels...)
		slices.Sort(first.Labels)
		b.paired = true
	} else if !r.denied {
		b.manifest.Repeated++
	}
	b.manifest.Lines = append(b.manifest.Lines, Line{row.Line, first.Line})
	return nil
}

// finish settles, after the last row, whether rows are pairs of a picture and a label.
func (b *builder) finish() {
	m := b.manifest
	if b.pairs() && (b.paired || b.stated.pairsAsked) {
		m.Form = FormPairs
	}
	if b.paired && b.byFile { // identifiers name rows, not pictures
		for i := range m.Rows {
			if row := &m.Rows[i]; len(row.Files) == 1 {
				row.ID = row.Files[0]
			}
		}
	}
}

// denies reports whether a cell of the column confidence means that the picture does not have the label of its row.
func denies(cell string) bool {
	confidence, err := strconv.ParseFloat(cell, 64)
	return err == nil && confidence == 0
}
