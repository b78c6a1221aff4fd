package table

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestWriteFile_AppearsWholeOrNotAtAll(t *testing.T) {
	path := filepath.Join(t.TempDir(), "y.csv")
	failed := errors.New("no more rows")
	row := make([]uint8, 2) // written again for each row
	rows := func(i int) ([]uint8, error) {
		if i == 2 {
			return nil, failed
		}
		row[i], row[1-i] = 1, 0
		return row, nil
	}
	if err := WriteFile(path, []string{"cat", "dog"}, nil, 3, rows); !errors.Is(err, failed) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file of two rows out of three is there: %v", err)
	}
	for _, c := range []struct {
		ids  []string
		want string
	}{{[]string{"x", "y"}, "id,cat,dog\nx,1,0\ny,0,1\n"}, {nil, "cat,dog\n1,0\n0,1\n"}} {
		if err := WriteFile(path, []string{"cat", "dog"}, c.ids, 2, rows); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != c.want {
			t.Errorf("got %q, want %q (%v)", got, c.want, err)
		}
	}
}
