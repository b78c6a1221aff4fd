package features

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestOrder_OfColumnsByName(t *testing.T) {
	open := func(text string) *Table {
		t.Helper()
		table, err := Open(t.Context(), Options{Features: file(t, "x.csv", []byte(text))})
		check(t, err)
		t.Cleanup(func() { check(t, table.Close()) })
		return table
	}
	table := open("c,a,b\n3,1,2\n6,4,5\n")
	check(t, table.Order(nil, "m"))
	check(t, table.Order([]string{"a", "b", "c"}, "m"))
	row := make([]float32, 3)
	for i, want := range []string{"[1 2 3]", "[4 5 6]"} {
		if check(t, table.Rows.Read(i, row)); fmt.Sprint(row) != want {
			t.Errorf("row %d is %v, want %s", i+1, row, want)
		}
	}
	if fmt.Sprint(table.Columns) != "[a b c]" {
		t.Errorf("columns %q", table.Columns)
	}
	for text, says := range map[string]string{
		"a,b\n1,2\n":     `lacks the column "c", which is feature 1 of the model`,
		"a,c,d\n1,2,3\n": `column "d" of "`,
	} {
		if err := open(text).Order([]string{"c", "a"}, "the model"); err == nil || !errors.Is(err, ErrFormat) ||
			!strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
