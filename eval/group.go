package eval

import (
	"bytes"
	"encoding/json"
	"fmt"

	"nmn/text"
)

// ByGroup holds one figure over all words and, if the words have parts of speech, one for each group of the paper's
// tables. In JSON it is an object with the column headings as keys: NN, VB, ..., Others, All; or All alone.
type ByGroup[T any] struct {
	Group []T // indexed by text.POS; nil for labels by name, which have no parts of speech
	All   T
}

// In is the figure of a group, or none without parts of speech.
func (g ByGroup[T]) In(p text.POS, none T) T {
	if g.Group == nil {
		return none
	}
	return g.Group[p]
}

// groupAll is the column heading of the last column.
const groupAll = "All"

// MarshalJSON writes the groups in the order of the table's columns.
func (g ByGroup[T]) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	write := func(name string, v T) error {
		value, err := json.Marshal(v)
		fmt.Fprintf(&b, "%q:%s", name, value)
		return err
	}
	for i, v := range g.Group {
		if err := write(text.POS(i).String(), v); err != nil {
			return nil, err
		}
		b.WriteByte(',')
	}
	if err := write(groupAll, g.All); err != nil {
		return nil, err
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// UnmarshalJSON reads what MarshalJSON wrote; a missing or unknown group is an error, so that a
// result of another version is not mistaken for one with zeros.
func (g *ByGroup[T]) UnmarshalJSON(b []byte) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(b, &fields); err != nil {
		return err
	}
	if len(fields) != 1 && len(fields) != text.POSCount+1 {
		return fmt.Errorf("evaluation groups: %d entries, want %d (NN to Others, and All) or All alone",
			len(fields), text.POSCount+1)
	}
	read := func(name string, into *T) error {
		raw, ok := fields[name]
		if !ok {
			return fmt.Errorf("evaluation groups: %q is missing", name)
		}
		if err := json.Unmarshal(raw, into); err != nil {
			return fmt.Errorf("evaluation group %q: %w", name, err)
		}
		return nil
	}
	g.Group = nil
	if len(fields) > 1 {
		g.Group = make([]T, text.POSCount)
	}
	for i := range g.Group {
		if err := read(text.POS(i).String(), &g.Group[i]); err != nil {
			return err
		}
	}
	return read(groupAll, &g.All)
}

// groups lists the classes of each group; without parts of speech there is none but all.
type groups struct {
	members [][]int // indexed by text.POS
	all     []int
}

func newGroups(classes int, v *text.Vocabulary) groups {
	var g groups
	if v != nil && v.HasPOS() {
		g.members = make([][]int, text.POSCount)
	}
	for c := range classes {
		g.all = append(g.all, c)
		if g.members == nil {
			continue
		}
		pos := v.Word(c).POS
		if int(pos) >= text.POSCount {
			pos = text.Others // a group that the tables do not have
		}
		g.members[pos] = append(g.members[pos], c)
	}
	return g
}

// eachGroup applies f to the classes of each group and of all.
func eachGroup[T any](g groups, f func(classes []int) T) ByGroup[T] {
	return mapGroups(ByGroup[[]int]{Group: g.members, All: g.all}, f)
}

// groupMeans averages a per-class figure over each group; undefined figures are left out.
func groupMeans(g groups, figure func(class int) Number) ByGroup[Number] {
	return eachGroup(g, func(classes []int) Number {
		m, _ := mean(pick(classes, figure))
		return m
	})
}

// groupSeen counts the classes of each group whose figure is defined.
func groupSeen(g groups, figure func(class int) Number) ByGroup[int] {
	return eachGroup(g, func(classes []int) int {
		_, n := mean(pick(classes, figure))
		return n
	})
}

func pick(classes []int, figure func(class int) Number) []Number {
	out := make([]Number, len(classes))
	for i, c := range classes {
		out[i] = figure(c)
	}
	return out
}
