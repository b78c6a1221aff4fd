package manifest

import (
	"context"
	"fmt"
	"slices"

	"golang.org/x/text/unicode/norm"

	"nmn/loader"
	"nmn/loader/picture"
	"nmn/text"
)

// IDs are the identifiers of all rows, in the order of the file.
func (m *Manifest) IDs() []string {
	ids := make([]string, len(m.Rows))
	for i := range m.Rows {
		ids[i] = m.Rows[i].ID
	}
	return ids
}

// HasSplits reports whether the file assigns its rows to splits.
func (m *Manifest) HasSplits() bool { return len(m.Rows) > 0 && m.Rows[0].Split != "" }

// Assign puts the rows with some identifiers into a split.
func (m *Manifest) Assign(split string, ids []string) {
	chosen := make(map[string]bool, len(ids))
	for _, id := range ids {
		chosen[id] = true
	}
	for i := range m.Rows {
		if chosen[m.Rows[i].ID] {
			m.Rows[i].Split = split
		}
	}
}

// Vocabulary makes classes of the labels of the training rows: the labels of at least minCount rows, at most
// size of them, the most frequent first and ties by name.
func (m *Manifest) Vocabulary(size, minCount int) (*text.Vocabulary, error) {
	rows := make(map[string]int, len(m.Labels))
	for i := range m.Rows {
		if m.Rows[i].Split != loader.TrainSplit {
			continue
		}
		for _, k := range m.Rows[i].Labels {
			rows[m.Labels[k]]++
		}
	}
	v, err := MostFrequent(rows, size, minCount)
	if v == nil && err == nil {
		has, cure := "no training row has a label", "label some"
		if minCount > 1 {
			has, cure = fmt.Sprintf("no label is on %d training rows", minCount), "label more, or lower `data.min_count`"
		}
		err = loader.Unusable(fmt.Errorf("manifest %q: %s; %s", m.File, has, cure))
	}
	return v, err
}

// MostFrequent makes classes of labels by the rows that have them: the labels of at least minCount rows, at most size
// of them, the most frequent first and ties by name. It returns nil if there is none.
func MostFrequent(rows map[string]int, size, minCount int) (*text.Vocabulary, error) {
	var words []text.Word
	for label, n := range rows {
		if n >= minCount {
			words = append(words, text.Word{Text: label, POS: text.Others, Count: n})
		}
	}
	if len(words) == 0 {
		return nil, nil
	}
	return text.MostFrequent(words, size)
}

// ForeignLabels are labels of a manifest that a vocabulary does not have.
type ForeignLabels struct {
	Labels []string // in the order in which they are met
	Rows   int      // that have any
	Where  string   // the first of these stands
}

// Foreign finds labels, observed, true or counted, that are no classes.
func (m *Manifest) Foreign(v *text.Vocabulary) ForeignLabels {
	classes := m.classes(v.Texts())
	var f ForeignLabels
	counted := make([]bool, len(m.Labels))
	for i := range m.Rows {
		row, any := &m.Rows[i], false
		look := func(k int32) {
			if classes[k] >= 0 {
				return
			}
			if any = true; !counted[k] {
				counted[k] = true
				f.Labels = append(f.Labels, m.Labels[k])
			}
		}
		for _, k := range row.Labels {
			look(k)
		}
		for _, k := range row.Truth {
			look(k)
		}
		for _, c := range row.Counts {
			look(c.Label)
		}
		if any {
			f.Rows++
			if f.Where == "" {
				f.Where = row.At()
			}
		}
	}
	return f
}

// classes returns the class of each label by the words of the classes, -1 for labels that are no class.
func (m *Manifest) classes(words []string) []int32 {
	at := make(map[string]int32, len(words))
	for class, word := range words {
		at[norm.NFC.String(word)] = int32(class)
	}
	classes := make([]int32, len(m.Labels))
	for k, name := range m.Labels {
		classes[k] = -1
		if class, ok := at[name]; ok {
			classes[k] = class
		}
	}
	return classes
}

// maxLabelMatrix bounds the bytes of the labels of a split.
const maxLabelMatrix int64 = 16 << 30

// Set makes the set of a split, nil if no row is in it; labels that are no classes are ignored. Relative
// paths start in folder. Truth and Counts are set if all rows of the split have them; it is an error if only
// some have. perBag is the number of annotators that counts are based on.
func (m *Manifest) Set(split string, v *text.Vocabulary, perBag int, folder string) (*loader.Set, error) {
	var rows []*Row
	for i := range m.Rows {
		if m.Rows[i].Split == split {
			rows = append(rows, &m.Rows[i])
		}
	}
	if len(rows) == 0 {
		return nil, nil
	}
	if n, k := len(rows), v.Len(); int64(n)*int64(k) > maxLabelMatrix {
		return nil, fmt.Errorf("manifest %q: labels of %d rows and %d classes are more than %d GiB; keep fewer "+
			"classes (`data.vocabulary_size`, `data.min_count`)", m.File, n, k, maxLabelMatrix>>30)
	}
	s := &loader.Set{Name: m.Stem() + "-" + split, Vocabulary: v, IDs: make([]string, len(rows))}
	for i, row := range rows {
		s.IDs[i] = row.ID
	}
	if err := m.fill(s, rows, perBag); err != nil {
		return nil, loader.Unusable(fmt.Errorf("manifest %q: %w", m.File, err))
	}
	source, err := newSource(m.File, folder, rows)
	if err != nil {
		return nil, err
	}
	s.Source = source
	return s, nil
}

func (m *Manifest) fill(s *loader.Set, rows []*Row, perBag int) error {
	classes, k := m.classes(s.Vocabulary.Texts()), s.Vocabulary.Len()
	truth, err := allOrNone(rows, m.column(truthColumn), func(r *Row) bool { return r.Truth != nil })
	if err != nil {
		return err
	}
	counts, err := allOrNone(rows, m.column(countsColumn), func(r *Row) bool { return r.Counts != nil })
	if err != nil {
		return err
	}
	mark := func(list func(*Row) []int32) []uint8 {
		values := make([]uint8, len(rows)*k)
		for i, row := range rows {
			for _, label := range list(row) {
				if class := classes[label]; class >= 0 {
					values[i*k+int(class)] = 1
				}
			}
		}
		return values
	}
	s.Labels = loader.Matrix(mark(func(r *Row) []int32 { return r.Labels }), k)
	if truth {
		s.Truth = loader.Matrix(mark(func(r *Row) []int32 { return r.Truth }), k)
	}
	if !counts {
		return nil
	}
	values := make([]uint8, len(rows)*k)
	for i, row := range rows {
		for _, c := range row.Counts {
			if int(c.Count) > perBag {
				return fmt.Errorf("%s, column %q: %q has the count %d of %d annotators; set their number "+
					"(`data.captions_per_sample`)", row.At(), m.column(countsColumn), loader.Excerpt(m.Labels[c.Label]), c.Count,
					perBag)
			}
			if class := classes[c.Label]; class >= 0 {
				values[i*k+int(class)] = c.Count
			}
		}
	}
	s.Counts, s.CaptionsPerSample = loader.Matrix(values, k), perBag
	return nil
}

// allOrNone reports whether the rows of a split have a field.
func allOrNone(rows []*Row, column string, has func(*Row) bool) (bool, error) {
	for _, row := range rows {
		if has(row) != has(rows[0]) {
			with, without := rows[0].At(), row.At()
			if has(row) {
				with, without = without, with
			}
			return false, fmt.Errorf("%s, column %q: it is not given, as it is on %s; give it to all rows "+
				"of a split, with %s (in JSON [] or {}) if it is known to be empty, or to none",
				without, column, with, noneCell)
		}
	}
	return has(rows[0]), nil
}

// Source reads the pictures of rows: bag i has the files of row i as its frames.
type Source struct {
	manifest string
	lines    []int // line of each row; 0 for rows without one
	files    *loader.FileSource
	offsets  []int // files offsets[i] to offsets[i+1]-1 are the frames of row i
}

func newSource(manifest, folder string, rows []*Row) (*Source, error) {
	offsets, lines := make([]int, len(rows)+1), make([]int, len(rows))
	var files []string
	for i, row := range rows {
		lines[i] = row.Line
		files = append(files, row.Files...)
		offsets[i+1] = len(files)
	}
	source, err := loader.NewFileSource(folder, files)
	if err != nil {
		return nil, err
	}
	return &Source{manifest: manifest, lines: lines, files: source, offsets: offsets}, nil
}

// Frames is the number of files of a row.
func (s *Source) Frames(bag int) int { return s.offsets[bag+1] - s.offsets[bag] }

// Read decodes a frame; see FileSource. The error names the row of the manifest too.
func (s *Source) Read(ctx context.Context, bag, frame int, pic *picture.Picture) error {
	file, err := s.place(bag, frame)
	if err != nil {
		return err
	}
	return s.inRow(bag, s.files.Read(ctx, file, 0, pic))
}

// inRow adds to an error the row of the file that cannot be used.
func (s *Source) inRow(bag int, err error) error {
	if err == nil {
		return nil
	}
	if s.lines[bag] == 0 { // the error names the file, which is all that there is to say
		return fmt.Errorf("%s: %w", s.manifest, err)
	}
	return fmt.Errorf("%s, line %d: %w", s.manifest, s.lines[bag], err)
}

func (s *Source) place(bag, frame int) (file int, err error) {
	if bag < 0 || bag >= len(s.lines) || frame < 0 || frame >= s.Frames(bag) {
		return 0, fmt.Errorf("pictures: there is no frame %d of sample %d among %d samples", frame, bag, len(s.lines))
	}
	return s.offsets[bag] + frame, nil
}

// Identity names the file of a frame; see loader.Identity.
func (s *Source) Identity(ctx context.Context, bag, frame int) (string, error) {
	file, err := s.place(bag, frame)
	if err != nil {
		return "", err
	}
	return s.files.Identity(ctx, file, 0)
}

// ReadEncoded reads the file of a frame as it is stored; see loader.ReadEncoded.
func (s *Source) ReadEncoded(ctx context.Context, bag, frame int, buffer []byte) ([]byte, error) {
	file, err := s.place(bag, frame)
	if err != nil {
		return buffer, err
	}
	buffer, err = loader.ReadEncoded(ctx, s.files, file, 0, buffer)
	return buffer, s.inRow(bag, err)
}

// join makes one label of those that differ in spelling alone.
func (m *Manifest) join(words []string) {
	rows := make([]int, len(m.Labels))
	for i := range m.Rows {
		for _, k := range m.Rows[i].Labels {
			rows[k]++
		}
	}
	to, labels, at := make([]int32, len(m.Labels)), []string{}, map[string]int32{}
	for k, one := range text.JoinAlike(m.Labels, rows, words) {
		if name := m.Labels[k]; one != name {
			if m.Joined == nil {
				m.Joined = map[string]string{}
			}
			m.Joined[name] = one
		}
		if _, ok := at[one]; !ok {
			at[one], labels = int32(len(labels)), append(labels, one)
		}
		to[k] = at[one]
	}
	m.Labels = labels
	for i := range m.Rows {
		row := &m.Rows[i]
		row.Labels, row.Truth, row.Counts = mapped(row.Labels, to), mapped(row.Truth, to), mappedCounts(row.Counts, to)
	}
}

// mapped are labels by other indices, ascending; nil stays nil.
func mapped(labels, to []int32) []int32 {
	for i, k := range labels {
		labels[i] = to[k]
	}
	slices.Sort(labels)
	return slices.Compact(labels)
}

// mappedCounts are counts of labels by other indices; counts of one label are added.
func mappedCounts(counts []LabelCount, to []int32) []LabelCount {
	joined := counts[:0]
	for _, c := range counts {
		c.Label = to[c.Label]
		if at := slices.IndexFunc(joined, func(o LabelCount) bool { return o.Label == c.Label }); at >= 0 {
			joined[at].Count = uint8(min(int(joined[at].Count)+int(c.Count), loader.MaxCaptions))
			continue
		}
		joined = append(joined, c)
	}
	return joined
}
