package manifest

import (
	"slices"

	"nmn/loader"
	"nmn/text"
)

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
	for i := range m.Lines {
		if k := m.Lines[i].Label; k >= 0 {
			m.Lines[i].Label = to[k]
		}
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
