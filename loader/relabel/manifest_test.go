package relabel

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nmn/internal/expect"
	"nmn/loader/manifest"
)

// written writes a file into a folder of its own, and returns its path and another one next to it.
func written(t *testing.T, name, text string) (from, to string) {
	t.Helper()
	from = filepath.Join(t.TempDir(), name)
	expect.OK(t, os.WriteFile(from, []byte(text), 0o666))
	return from, filepath.Join(filepath.Dir(from), "fixed-"+name)
}

// contentOf reads what was written.
func contentOf(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	expect.OK(t, err)
	return string(content)
}

// corrected is a manifest with the labels of some pictures corrected.
func corrected(t *testing.T, name, text string, o manifest.Options, words []string,
	pictures map[string][]uint8) (string, int, error) {
	t.Helper()
	from, to := written(t, name, text)
	m, err := manifest.Read(t.Context(), from, o)
	expect.OK(t, err)
	l := Labels{Words: words, Rows: map[string][]uint8{}}
	for _, row := range m.Rows {
		if labels, ok := pictures[row.Files[0]]; ok {
			l.Rows[row.ID] = labels
		}
	}
	rows, err := Manifest(t.Context(), m, l, to)
	if err != nil {
		return "", 0, err
	}
	if again, err := manifest.Read(t.Context(), to, o); err != nil || len(again.Rows) != len(m.Rows) {
		t.Errorf("what was written is read as %+v: %v\n%s", again, err, contentOf(t, to))
	}
	return contentOf(t, to), rows, nil
}

// rewritten is a manifest with some labels corrected: a.jpg is a cat and no dog, c.jpg a dog.
func rewritten(t *testing.T, name, text string, o manifest.Options) (string, int, error) {
	t.Helper()
	return corrected(t, name, text, o, []string{"cat", "dog"}, map[string][]uint8{"a.jpg": {1, 0}, "c.jpg": {0, 1}})
}

func TestManifest_ChangesLabelsAndNothingElse(t *testing.T) {
	for name, c := range map[string]struct {
		file, from, want string
		rows             int
	}{
		"lists, quotes, blanks and columns of others": {"m.csv",
			"note,path,labels,split\r\n\"x, \"\"y\"\"\", a.jpg ,\"dog; bird\",train\r\n1,b.jpg,dog,train\r\n\r\n2,c.jpg, " +
				",test\r\n",
			"note,path,labels,split\r\n\"x, \"\"y\"\"\",a.jpg ,bird;cat,train\r\n1,b.jpg,dog,train\r\n" +
				"2,c.jpg,dog,test\r\n", 2},
		"bars, semicolons between cells, no last newline": {"m.csv",
			"path;labels;n\na.jpg;bird|dog;1\nb.jpg;dog;2\nc.jpg;dog;3",
			"path;labels;n\na.jpg;bird|cat;1\nb.jpg;dog;2\nc.jpg;dog;3", 1},
		"columns of 0 and 1": {"m.csv",
			"path,dog,bird,cat\na.jpg,1,1,0\nb.jpg,1,0,0\nc.jpg,0.0,0,0\n",
			"path,dog,bird,cat\na.jpg,0,1,1\nb.jpg,1,0,0\nc.jpg,1.0,0,0\n", 2},
		"columns of yes and no": {"m.csv",
			"path,dog,bird,cat\na.jpg,yes,TRUE,no\nb.jpg,yes,FALSE,no\nc.jpg,no,FALSE,no\n",
			"path,dog,bird,cat\na.jpg,no,TRUE,yes\nb.jpg,yes,FALSE,no\nc.jpg,yes,FALSE,no\n", 2},
		"columns of crosses": {"m.csv", "path,dog,bird,cat\na.jpg,X,X,\nb.jpg,X,,\nc.jpg,,,\n",
			"path,dog,bird,cat\na.jpg,,X,X\nb.jpg,X,,\nc.jpg,X,,\n", 2},
		"commas": {"m.csv",
			"path,tags\na.jpg,\"dog,bird\"\nb.jpg,\"dog,cat,bird\"\nc.jpg,\"bird,cat\"\nd.jpg,dog\n",
			"path,tags\na.jpg,\"bird,cat\"\nb.jpg,\"dog,cat,bird\"\nc.jpg,\"bird,dog\"\nd.jpg,dog\n", 2},
		"arrays of JSON in cells": {"m.csv",
			"path,labels\na.jpg,\"[\"\"dog\"\", \"\"bird\"\"]\"\nb.jpg,[]\nc.jpg,\"[\"\"cat\"\"]\"\n",
			"path,labels\na.jpg,\"[\"\"bird\"\",\"\"cat\"\"]\"\nb.jpg,[]\nc.jpg,\"[\"\"dog\"\"]\"\n", 2},
		"arrays of Python in cells": {"m.csv",
			"path,labels\na.jpg,\"['dog', 'bird']\"\nb.jpg,[]\nc.jpg,['dog']\n",
			"path,labels\na.jpg,\"[\"\"bird\"\",\"\"cat\"\"]\"\nb.jpg,[]\nc.jpg,['dog']\n", 1},
		"one name each": {"m.csv", "path,label\na.jpg,dog\nb.jpg,cat\nc.jpg,cat\n",
			"path,label\na.jpg,cat\nb.jpg,cat\nc.jpg,dog\n", 2},
		"JSON lines": {"m.jsonl",
			"{\"labels\": [\"dog\", \"bird\"], \"path\": \"a.jpg\", \"x\": {\"labels\": 1}}\n\n  " +
				"{\"path\":\"b.jpg\",\"labels\":[\"dog\"]}\n{\"path\":\"c.jpg\",\"labels\":[]}",
			"{\"labels\": [\"bird\",\"cat\"], \"path\": \"a.jpg\", \"x\": {\"labels\": 1}}\n\n  " +
				"{\"path\":\"b.jpg\",\"labels\":[\"dog\"]}\n{\"path\":\"c.jpg\",\"labels\":[\"dog\"]}", 2},
		"rows that name their bags": {"m.csv", "id,path,labels\nx,a.jpg,dog\ny,b.jpg,dog;cat\nz,c.jpg,-\n",
			"id,path,labels\nx,a.jpg,cat\ny,b.jpg,dog;cat\nz,c.jpg,dog\n", 2},
	} {
		t.Run(name, func(t *testing.T) {
			got, rows, err := rewritten(t, c.file, c.from, manifest.Options{})
			expect.OK(t, err)
			if got != c.want || rows != c.rows {
				t.Errorf("%d rows, want %d:\n%q, want\n%q", rows, c.rows, got, c.want)
			}
		})
	}
}

func TestManifest_NumbersOfClasses(t *testing.T) {
	const table = "path,label\na.jpg,0\nb.jpg,2\nc.jpg,2\nd.jpg,1\n"
	got, rows, err := corrected(t, "m.csv", table, manifest.Options{Form: manifest.FormIntegers}, []string{"0", "1", "2"},
		map[string][]uint8{"a.jpg": {0, 1, 0}, "c.jpg": {0, 0, 0}})
	if want := "path,label\na.jpg,1\nb.jpg,2\nc.jpg,\nd.jpg,1\n"; err != nil || got != want || rows != 2 {
		t.Errorf("%d rows, %v: %q", rows, err, got)
	}
	_, _, err = rewritten(t, "m.csv", table, manifest.Options{Form: manifest.FormIntegers,
		Words: []string{"dog", "cat", "emu"}})
	if !errors.Is(err, ErrForm) || !strings.Contains(err.Error(), `"cat" cannot stand`) {
		t.Errorf("a name for a number: %v", err)
	}
}

// A form that states one name cannot hold none, nor a name that it has no number for.
func TestManifest_RefusesWhatItsFormCannotHold(t *testing.T) {
	_, _, err := rewritten(t, "m.csv", "path,label\na.jpg,dog\nb.jpg,cat\nc.jpg,bird\n", manifest.Options{})
	if !errors.Is(err, ErrForm) || !strings.Contains(err.Error(), "line 4") {
		t.Errorf("a bird and a dog in a cell for one: %v", err)
	}
}

// A file may change between two readings.
func TestManifest_RefusesAFileThatHasChanged(t *testing.T) {
	for before, after := range map[string]string{
		"path,labels\na.jpg,dog;cat\nb.jpg,dog\n": "path,tags\na.jpg,dog;cat\nb.jpg,dog\n",
		"path,labels\nc.jpg,dog;cat\nd.jpg,dog\n": "path,labels\nc.jpg\nd.jpg\n",
		"path,dog,cat\na.jpg,1,1\nb.jpg,1,0\n":    "path,dog,cat\na.jpg\nb.jpg\n",
	} {
		from, to := written(t, "m.csv", before)
		m, err := manifest.Read(t.Context(), from, manifest.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(from, []byte(after), 0o666); err != nil {
			t.Fatal(err)
		}
		l := Labels{Words: []string{"dog", "cat"}, Rows: map[string][]uint8{m.Rows[0].ID: {0, 1}, m.Rows[1].ID: {0, 1}}}
		if _, err := Manifest(t.Context(), m, l, to); !errors.Is(err, ErrForm) {
			t.Errorf("%q that became %q: %v", before, after, err)
		}
	}
}

// Whatever a table of lists holds, what was written is read with the corrected labels, and other rows keep their bytes.
func FuzzManifest(f *testing.F) {
	for _, seed := range []string{"path,labels\na.jpg,dog;cat\nb.jpg,dog\n", "labels;path\r\n\"dog|x y\";  a.jpg \r\n",
		"n,path,labels\n\"a\nb\",a.jpg,\n\n1,b.jpg,\"c,\"\"d\"\"\"", "{\"path\":\"a.jpg\",\"labels\":[\"dog\"]}\n"} {
		f.Add(seed, true)
	}
	f.Fuzz(func(t *testing.T, text string, on bool) {
		from, to := written(t, "m.csv", text)
		m, err := manifest.Read(t.Context(), from, manifest.Options{Form: manifest.FormList})
		if err != nil || !HasLines(m) {
			return
		}
		l := Labels{Words: []string{"dog"}, Rows: map[string][]uint8{m.Rows[0].ID: {map[bool]uint8{true: 1}[on]}}}
		if _, err := Manifest(t.Context(), m, l, to); errors.Is(err, ErrForm) {
			return
		} else if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		again, err := manifest.Read(t.Context(), to, manifest.Options{Form: manifest.FormList})
		if err != nil || len(again.Rows) != len(m.Rows) {
			t.Fatalf("%q became %q: %v", text, contentOf(t, to), err)
		}
		for i := range m.Rows {
			want, _ := l.Names(m.Rows[i].ID, namesOf(m, &m.Rows[i]))
			got := namesOf(again, &again.Rows[i])
			slices.Sort(want)
			slices.Sort(got)
			if !slices.Equal(got, want) || again.Rows[i].ID != m.Rows[i].ID {
				t.Fatalf("row %d of %q is %q, want %q: %q", i, text, got, want, contentOf(t, to))
			}
		}
	})
}

// A mark, line ends and columns of others stay, and a row that loses its only label has an empty cell.
func TestManifest_KeepsWhatIsNotALabel(t *testing.T) {
	for name, test := range map[string]struct{ from, want string }{
		"csv": {"\ufeffpath,label,note é\r\na.jpg,\"cat\",\"x,1\"\r\nb.jpg,dog, 2\r\nc.jpg,cat,\r\n",
			"\ufeffpath,label,note é\r\na.jpg,,\"x,1\"\r\nb.jpg,cat,2\r\nc.jpg,cat,\r\n"},
		"jsonl": {"\ufeff{\"path\": \"a.jpg\", \"label\": \"cat\", \"note\": 1}\r\n{\"path\": " +
			"\"b.jpg\",\"label\":\"dog\"}\r\n{\"path\": \"c.jpg\", \"label\": \"cat\"}\n", "\ufeff{\"path\": \"a.jpg\", " +
			"\"label\": \"\", \"note\": 1}\r\n{\"path\": \"b.jpg\",\"label\":\"cat\"}\r\n{\"path\": \"c.jpg\", \"label\": " +
			"\"cat\"}\n"},
	} {
		got, _, err := corrected(t, "m."+name, test.from, manifest.Options{Form: manifest.FormSingle}, []string{"cat", "dog"},
			map[string][]uint8{"a.jpg": {0, 0}, "b.jpg": {1, 0}})
		if err != nil || got != test.want {
			t.Errorf("%s: %q, %v, want %q", name, got, err, test.want)
		}
	}
}

// Labels that were joined are corrected in each spelling, and rows without corrections keep theirs.
func TestManifest_CorrectsJoinedLabels(t *testing.T) {
	for name, c := range map[string]struct{ file, from, want string }{
		"lists": {"m.csv", "path,labels\na.jpg,DOG;Dog;bird\nb.jpg,dog;Cat;cat\nc.jpg,Cat;Bird\n",
			"path,labels\na.jpg,bird;cat\nb.jpg,dog;Cat;cat\nc.jpg,bird;dog\n"},
		"columns": {"m.csv", "path,Dog,dog,cat,DOG\na.jpg,1,1,0,0\nb.jpg,1,0,0,1\nc.jpg,0,0,1,0\nd.jpg,0,1,0,0\n",
			"path,Dog,dog,cat,DOG\na.jpg,0,0,1,0\nb.jpg,1,0,0,1\nc.jpg,1,0,0,0\nd.jpg,0,1,0,0\n"},
		"columns that say so already": {"m.csv", "path,Dog,dog,cat\na.jpg,1,0,1\nb.jpg,1,1,0\nc.jpg,1,0,0\nd.jpg,0,1,0\n",
			"path,Dog,dog,cat\na.jpg,0,0,1\nb.jpg,1,1,0\nc.jpg,1,0,0\nd.jpg,0,1,0\n"},
	} {
		t.Run(name, func(t *testing.T) {
			got, _, err := rewritten(t, c.file, c.from,
				manifest.Options{JoinLabels: true, Words: []string{"cat", "dog", "bird"}})
			if err != nil || got != c.want {
				t.Errorf("%v: %q, want\n%q", err, got, c.want)
			}
		})
	}
}

// Names in both Unicode normal forms are one label, and the file keeps its bytes.
func TestManifest_CorrectsLabelsInBothNormalForms(t *testing.T) {
	const composed, decomposed = "caf\u00e9", "cafe\u0301"
	for name, c := range map[string][2]string{
		"lists": {"path,labels\na.jpg," + composed + "\nb.jpg," + decomposed + ";dog\nc.jpg,dog;" + decomposed + "\n",
			"path,labels\na.jpg,dog\nb.jpg," + decomposed + ";dog\nc.jpg,dog\n"},
		"columns": {"path," + decomposed + ",dog\na.jpg,1,0\nb.jpg,1,1\nc.jpg,1,1\n",
			"path," + decomposed + ",dog\na.jpg,0,1\nb.jpg,1,1\nc.jpg,0,1\n"},
	} {
		got, _, err := corrected(t, "m.csv", c[0], manifest.Options{}, []string{composed, "dog"},
			map[string][]uint8{"a.jpg": {0, 1}, "b.jpg": {1, 1}, "c.jpg": {0, 1}})
		if err != nil || got != c[1] {
			t.Errorf("%s: %q, want\n%q, %v", name, got, c[1], err)
		}
	}
}

// The rows of one array of JSON are no lines that could be changed.
func TestManifest_RefusesWholeJSON(t *testing.T) {
	for _, text := range []string{`[{"path": "a.jpg", "labels": ["dog"]}]`, `{"a.jpg": ["dog"]}`} {
		if _, _, err := rewritten(t, "m.json", text, manifest.Options{}); !errors.Is(err, ErrForm) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// Rows of pictures and labels are no lines of pictures: they become a new manifest.
func TestRowsOf_Pairs(t *testing.T) {
	from, to := written(t, "m.csv", "file,tag,split\na.jpg,dog,train\na.jpg,bird,train\nb.jpg,cat,test\n")
	m, err := manifest.Read(t.Context(), from, manifest.Options{})
	expect.OK(t, err)
	l := Labels{Words: []string{"cat", "dog"}, Rows: map[string][]uint8{"a.jpg": {1, 0}}}
	if _, err := Manifest(t.Context(), m, l, to); !errors.Is(err, ErrForm) {
		t.Error(err)
	}
	expect.OK(t, NewManifest(RowsOf(m, l, nil), to))
	if got := contentOf(t, to); got != "path,labels,split\na.jpg,bird;cat,train\nb.jpg,cat,test\n" {
		t.Errorf("%q", got)
	}
}

// Rows that say the same are corrected alike.
func TestManifest_CorrectsRepeatedRows(t *testing.T) {
	got, rows, err := rewritten(t, "m.csv", "path,labels\na.jpg,dog;bird\nb.jpg,dog\na.jpg,dog;bird\nc.jpg,cat;dog\n",
		manifest.Options{})
	if want := "path,labels\na.jpg,bird;cat\nb.jpg,dog\na.jpg,bird;cat\nc.jpg,dog\n"; err != nil || got != want || rows != 3 {
		t.Errorf("%d rows, %v: %q", rows, err, got)
	}
}

func TestNewManifest_HasTheColumnsThatRowsNeed(t *testing.T) {
	for _, test := range []struct {
		name, want string
		rows       []Row
	}{
		{"ids that are paths", "path,labels,split\na.jpg,cat;dog,train\nb.jpg,,test\n", []Row{
			{ID: "a.jpg", Files: []string{"a.jpg"}, Labels: []string{"cat", "dog"}, Split: "train"},
			{ID: "b.jpg", Files: []string{"b.jpg"}, Split: "test"}}},
		{"own ids", "path,labels,split,id\na.jpg,cat,train,7\nb.jpg,dog,train,b.jpg\n", []Row{
			{ID: "7", Files: []string{"a.jpg"}, Labels: []string{"cat"}, Split: "train"},
			{ID: "b.jpg", Files: []string{"b.jpg"}, Labels: []string{"dog"}, Split: "train"}}},
		{"clips", "frames,labels,split,id\n1.jpg;2.jpg,cat,validation,clip\n", []Row{
			{ID: "clip", Files: []string{"1.jpg", "2.jpg"}, Labels: []string{"cat"}, Split: "validation"}}},
	} {
		path := filepath.Join(t.TempDir(), "new.csv")
		expect.OK(t, NewManifest(test.rows, path))
		if got, err := os.ReadFile(path); err != nil || string(got) != test.want {
			t.Errorf("%s: %q, %v, want %q", test.name, got, err, test.want)
		}
	}
}

// A name with a separator in it would be read as two.
func TestNewManifest_RefusesNamesThatWouldBeParted(t *testing.T) {
	for _, row := range []Row{{Files: []string{"a;b.jpg"}}, {Files: []string{"a.jpg"}, Labels: []string{"cat|dog"}}} {
		path := filepath.Join(t.TempDir(), "new.csv")
		if err := NewManifest([]Row{row}, path); !errors.Is(err, ErrForm) {
			t.Errorf("%+v: %v", row, err)
		}
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%+v: a file was left", row)
		}
	}
}
