package relabel

import (
	"errors"
	"strings"
	"testing"

	"nmn/loader/manifest"
)

// A row for each picture and label stays that: a wrong label becomes a missing one, or its row goes away, and what is
// still missing gets rows below. Other bytes stay.
func TestManifest_RowsOfPicturesAndLabels(t *testing.T) {
	for name, c := range map[string]struct {
		file, from, want string
		rows             int
	}{
		"one label for another": {"m.csv",
			"file;tag;by\r\na.jpg;\"dog\";Ann\r\na.jpg;bird;Ann\r\nb.jpg;dog;\r\n\r\nb.jpg;cat;\r\nc.jpg;cat;Bob\r\n",
			"file;tag;by\r\na.jpg;\"cat\";Ann\r\na.jpg;bird;Ann\r\nb.jpg;dog;\r\n\r\nb.jpg;cat;\r\nc.jpg;dog;Bob\r\n", 2},
		"one label less, and the same rows twice": {"m.csv",
			"file,tag\na.jpg,dog\na.jpg,cat\nb.jpg,cat\na.jpg,dog\nc.jpg,dog\n",
			"file,tag\na.jpg,cat\nb.jpg,cat\nc.jpg,dog\n", 1},
		"one label more, no last newline": {"m.csv",
			"file,tag\nb.jpg,cat\nb.jpg,dog\na.jpg,cat\nc.jpg,\"bird\"",
			"file,tag\nb.jpg,cat\nb.jpg,dog\na.jpg,cat\nc.jpg,\"bird\"\nc.jpg,\"dog\"", 1},
		"rows that others have numbered": {"m.csv", "id,file,tag\n1,a.jpg,dog\n2,a.jpg,bird\n3,c.jpg,dog\n4,b.jpg,cat\n",
			"id,file,tag\n1,a.jpg,cat\n2,a.jpg,bird\n3,c.jpg,dog\n4,b.jpg,cat\n", 1},
		"confidence": {"m.csv", "ImageID,LabelName,Confidence\na.jpg,cat,0\na.jpg,bird,1\nc.jpg,cat,1\nb.jpg,dog,1\n",
			"ImageID,LabelName,Confidence\na.jpg,cat,0\na.jpg,bird,1\na.jpg,cat,1\nc.jpg,dog,1\nb.jpg,dog,1\n", 2},
		"JSON lines": {"m.jsonl",
			"{\"file\": \"a.jpg\", \"tag\": \"dog\", \"n\": 1}\n\n{\"file\": \"a.jpg\", \"tag\": \"bird\"}\n" +
				"{\"file\": \"b.jpg\", \"tag\": \"cat\"}\n{\"file\": \"c.jpg\", \"tag\": \"bird\"}",
			"{\"file\": \"a.jpg\", \"tag\": \"cat\", \"n\": 1}\n\n{\"file\": \"a.jpg\", \"tag\": \"bird\"}\n" +
				"{\"file\": \"b.jpg\", \"tag\": \"cat\"}\n{\"file\": \"c.jpg\", \"tag\": \"bird\"}\n" +
				"{\"file\": \"c.jpg\", \"tag\": \"dog\"}", 2},
	} {
		t.Run(name, func(t *testing.T) {
			for _, o := range []manifest.Options{{}, {Form: manifest.FormPairs}} {
				got, rows, err := rewritten(t, c.file, c.from, o)
				check(t, err)
				if got != c.want || rows != c.rows {
					t.Errorf("%d rows, want %d:\n%q, want\n%q", rows, c.rows, got, c.want)
				}
			}
		})
	}
}

// A picture that loses all labels stays, with an empty cell, and numbers of classes are written as the file has them.
func TestManifest_PairsWithoutLabelsAndWithNumbers(t *testing.T) {
	const table = "file,y\na.jpg,0\na.jpg,1.0\nb.jpg,1.0\n"
	o := manifest.Options{Form: manifest.FormPairs, Words: []string{"cat", "dog", "emu"}}
	got, rows, err := corrected(t, "m.csv", table, o, []string{"cat", "dog"},
		map[string][]uint8{"a.jpg": {0, 0}, "b.jpg": {1, 1}})
	if err != nil || rows != 2 || got != "file,y\na.jpg,\nb.jpg,1.0\nb.jpg,0\n" {
		t.Errorf("%d rows, %v: %q", rows, err, got)
	}
	_, _, err = corrected(t, "m.csv", table, o, []string{"emu"}, map[string][]uint8{"a.jpg": {1}})
	if !errors.Is(err, ErrForm) || !strings.Contains(err.Error(), `"emu"`) {
		t.Errorf("a class that no row has a number for: %v", err)
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
