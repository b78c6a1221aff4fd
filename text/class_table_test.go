package text

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"

	"nmn/internal/expect"
)

func tableWords(t testing.TB) *Vocabulary {
	t.Helper()
	v, err := NewVocabulary([]Word{{Text: "cat"}, {Text: "red"}, {Text: "up,side"}, {Text: " odd"}})
	expect.OK(t, err)
	return v
}

// readTable returns "class/line: Q field" of every line.
func readTable(t testing.TB, in string) (lines []string, table *ClassTable, err error) {
	t.Helper()
	table, err = NewClassTable(strings.NewReader(in), tableWords(t), "q")
	for err == nil {
		var class int
		if class, err = table.Next(); err == nil {
			lines = append(lines, fmt.Sprintf("%d/%d: %s", class, table.Line(), table.Field("q")))
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return lines, table, err
}

func TestClassTable_AnyOrderOfLinesAndColumns(t *testing.T) {
	lines, table, err := readTable(t, "\ufeff Q, ,x, CLASS,\n 1 ,,a, cat,\r\n\n2,,b,\"up,side\",\n3,,\"c\nd\", odd,\n")
	expect.OK(t, err)
	if want := []string{"0/2: 1", "2/4: 2", "3/5: 3"}; !reflect.DeepEqual(lines, want) {
		t.Errorf("lines %q, want %q", lines, want)
	}
	if want := []string{"q", "", "x", "class", ""}; !reflect.DeepEqual(table.Columns(), want) {
		t.Errorf("columns %q, want %q", table.Columns(), want)
	}
	if n, first := table.Missing(); n != 1 || first != "red" {
		t.Errorf("%d classes are missing, the first %q", n, first)
	}
	if got := table.Field("none"); got != "" {
		t.Errorf("a column that is not there holds %q", got)
	}
}

func TestClassTable_NamesTheFault(t *testing.T) {
	for _, c := range []struct {
		name, in string
		line     int
		says     string
	}{
		{"empty", "", 1, "the file is empty"},
		{"no class", "q,x\n", 1, `no column "class"`},
		{"no q", "class,x\n", 1, `no column "q"`},
		{"column twice", "class,q,x,Q\n", 1, `column 4 is "q", which is given twice`},
		{"unknown class", "class,q\ncat,1\n\ndog,1\n", 4, `"dog" is not one of the classes`},
		{"no such class", "class,q\n,1\n", 2, `"" is not one of the classes`},
		{"class twice", "class,q\ncat,1\nred,1\n cat ,1\n", 4, "it was given in line 2"},
		{"short line", "class,q\ncat\n", 2, "1 fields, the header has 2"},
		{"long line", "class,q\ncat,1,\n", 2, "3 fields, the header has 2"},
		{"quote in a field", "class,q\nc\"at,1\n", 2, csv.ErrBareQuote.Error()},
		{"open quote", "class,q\n\"cat,1\n", 2, csv.ErrQuote.Error()},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := readTable(t, c.in)
			var at *ClassTableError
			if !errors.As(err, &at) || at.Line != c.line || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v, want one in line %d with %q", err, c.line, c.says)
			}
		})
	}
}

func FuzzClassTable(f *testing.F) {
	for _, in := range []string{"class,q\ncat,1\nred,2\n", "q,class\n.1,\"up,side\"\n", "\ufeffClass , Q,,\n odd,,,\n"} {
		f.Add(in)
	}
	f.Fuzz(func(t *testing.T, in string) {
		lines, table, err := readTable(t, in)
		var at *ClassTableError
		if err != nil && !errors.As(err, &at) {
			t.Fatalf("error %v names no line", err)
		}
		if err != nil {
			return
		}
		if missing, _ := table.Missing(); missing+len(lines) != 4 {
			t.Fatalf("%d lines and %d words without one, of 4 words", len(lines), missing)
		}
	})
}
