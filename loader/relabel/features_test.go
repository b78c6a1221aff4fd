package relabel

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"
)

func TestTable_ChangesLabelsAndNothingElse(t *testing.T) {
	for name, c := range map[string]struct {
		file, from, want string
		table            Table
		rows             int
	}{
		"by id": {"l.csv", "id,dog,cat\nb,1,0\na,1,0\n", "id,dog,cat\nb,1,0\na,0,1\n", Table{IDColumn: "id"}, 1},
		"in order, with features among them": {"f.csv", "x1,cat,x2,dog\n.5,0,1,1\n1,1,2,0\n",
			"x1,cat,x2,dog\n.5,1,1,0\n1,1,2,0\n",
			Table{}, 1},
		"tabs without a header": {"l.tsv", "0\t1\n1\t1\n", "1\t0\n1\t1\n", Table{}, 1},
		"lists": {"l.csv", "id,labels\na,dog|bird\nb,dog\n", "id,labels\na,bird|cat\nb,dog\n",
			Table{IDColumn: "id", List: "labels"}, 1},
		"joined columns": {"l.csv", "id,Dog,cat,dog\nb,0,1,1\na,1,0,1\n", "id,Dog,cat,dog\nb,0,1,1\na,0,1,0\n",
			Table{IDColumn: "id", Join: true}, 1},
		"joined lists": {"l.csv", "id,labels\na,DOG;bird;Dog\nb,dog\n", "id,labels\na,bird;cat\nb,dog\n",
			Table{IDColumn: "id", List: "labels", Join: true}, 1},
		"JSON lines": {"l.jsonl", "{\"id\":\"b\",\"labels\":[]}\n{\"id\":\"a\",\"labels\":[\"dog\"]}\n",
			"{\"id\":\"b\",\"labels\":[]}\n{\"id\":\"a\",\"labels\":[\"cat\"]}\n", Table{}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			from, to := written(t, c.file, c.from)
			c.table.File, c.table.IDs = from, []string{"a", "b"}
			l := Labels{Words: []string{"cat", "dog"}, Rows: map[string][]uint8{"a": {1, 0}}}
			rows, err := c.table.Text(t.Context(), l, to)
			check(t, err)
			if got := contentOf(t, to); got != c.want || rows != c.rows {
				t.Errorf("%d rows: %q, want %q", rows, got, c.want)
			}
		})
	}
}

// array is a .npy of two rows and two columns.
func array(descr string, fortran string, elements ...[]byte) []byte {
	header := fmt.Sprintf("{'descr': '%s', 'fortran_order': %s, 'shape': (2, 2), }", descr, fortran)
	for len(header)%64 != 64-10-1 {
		header += " "
	}
	header += "\n"
	out := append([]byte("\x93NUMPY\x01\x00"), byte(len(header)), byte(len(header)>>8))
	return append(append(out, header...), bytes.Join(elements, nil)...)
}

func TestMatrix_KeepsTypeAndOrder(t *testing.T) {
	float := map[int][]byte{0: {0, 0, 0, 0}, 1: {0, 0, 0x80, 0x3f}}
	wide := map[int][]byte{0: make([]byte, 8), 1: {0, 0, 0, 0, 0, 0, 0, 1}}
	small := map[int][]byte{0: {0}, 1: {1}}
	for _, c := range []struct {
		descr, fortran string
		of             map[int][]byte
	}{{"|u1", "False", small}, {"|b1", "True", small}, {"<f4", "False", float}, {"<f4", "True", float},
		{">i8", "False", wide}} {
		now := []int{0, 1, 1, 0} // a: dog, b: cat; rows of cat and dog
		want := []int{1, 0, 1, 0}
		if c.fortran == "True" {
			now, want = []int{0, 1, 1, 0}, []int{1, 1, 0, 0}
		}
		var from, to []byte
		from = array(c.descr, c.fortran, c.of[now[0]], c.of[now[1]], c.of[now[2]], c.of[now[3]])
		to = array(c.descr, c.fortran, c.of[want[0]], c.of[want[1]], c.of[want[2]], c.of[want[3]])
		l := Labels{Words: []string{"cat", "dog"}, Rows: map[string][]uint8{"a": {1, 0}}}
		got := slices.Clone(from)
		if rows, err := matrix(got, []string{"a", "b"}, &l); err != nil || rows != 1 || !bytes.Equal(got, to) {
			t.Errorf("%s %s: %d rows, %v\n%v, want\n%v", c.descr, c.fortran, rows, err, got, to)
		}
		if _, err := matrix(got, []string{"a"}, &l); !errors.Is(err, ErrForm) {
			t.Errorf("two rows for one bag: %v", err)
		}
	}
}
