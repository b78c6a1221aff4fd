package eval

import (
	"bytes"
	"encoding/json"
	"fmt"

	"nmn/text"
)

// ByGroup holds one figure for each part-of-speech group of the paper's tables and one over all
// words. In JSON it is an object with the column headings as keys: NN, VB, ..., Others, All.
type ByGroup[T any] struct {
	Group [text.POSCount]T // indexed by text.POS
	All   T
}

// groupAll is the column heading of the last column.
const groupAll = "All"

// MarshalJSON writes the groups in the order of the table's columns.
func (g ByGroup[T]) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	for i, v := range append(g.Group[:], g.All) {
		name := groupAll
		if i < text.POSCount {
			name = text.POS(i).String()
		}
		value, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		separator := byte(',')
		if i == 0 {
			separator = '{'
		}
		b.WriteByte(separator)
		fmt.Fprintf(&b, "%q:", name)
		b.Write(value)
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
	if len(fields) != text.POSCount+1 {
		return fmt.Errorf("evaluation groups: %d entries, want %d (NN to Others, and All)",
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
	for i := range g.Group {
		if err := read(text.POS(i).String(), &g.Group[i]); err != nil {
			return err
		}
	}
	return read(groupAll, &g.All)
}

// groups lists the classes of each group. Without parts of speech only all is filled.
type groups struct {
	members [text.POSCount][]int
	all     []int
}

func newGroups(classes int, v *text.Vocabulary) groups {
	var g groups
	for c := range classes {
		g.all = append(g.all, c)
		if v == nil {
			continue
		}
		pos := v.Word(c).POS
		if int(pos) >= text.POSCount {
			pos = text.Others // a group that the tables do not know
		}
		g.members[pos] = append(g.members[pos], c)
	}
	return g
}

// eachGroup applies f to the classes of each group and of all.
func eachGroup[T any](g groups, f func(classes []int) T) ByGroup[T] {
	var out ByGroup[T]
	for i, classes := range g.members {
		out.Group[i] = f(classes)
	}
	out.All = f(g.all)
	return out
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
