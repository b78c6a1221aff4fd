package manifest

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nmn/internal/expect"
	"nmn/loader"
)

func readVerified(t *testing.T, name, content string) (*Verified, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	expect.OK(t, os.WriteFile(path, []byte(content), 0o600))
	pictures := map[string]string{"1": "photos/a.jpg", "2": "photos/b.jpg", "3": "photos/c.jpg", "4": "photos/d.jpg"}
	return ReadVerified(t.Context(), path, VerifiedOf{Bags: []string{"1", "2", "3"}, HeldOut: []string{"4"},
		File: func(bag string) string { return pictures[bag] }, Words: []string{"cat", "dog", "grass"}})
}

// Bags are found by identifier or picture, in any form of a manifest. Held-out ones are counted and left out.
func TestReadVerified_FindsBags(t *testing.T) {
	for name, content := range map[string]string{
		"by.csv":    "path,labels\nc.jpg,cat;dog\nphotos/a.jpg,\nd.jpg,cat\n",
		"id.csv":    "id,path,labels\n3,x.jpg,cat;dog\n1,y.jpg,\n4,z.jpg,cat\n",
		"by.jsonl":  `{"file": "c", "labels": ["dog", "cat"]}` + "\n" + `{"file": "a", "labels": []}` + "\n" + `{"file": "d", "labels": ["cat"]}`,
		"pairs.csv": "filename,tag\nc.jpg,cat\nc.jpg,dog\na.jpg,\nd.jpg,cat\n",
	} {
		v, err := readVerified(t, name, content)
		if err != nil || !slices.Equal(v.Bags, []int{2, 0}) || !slices.Equal(v.Truth, []uint8{1, 1, 0, 0, 0, 0}) ||
			v.HeldOut != 1 {
			t.Errorf("%s: %+v, %v", name, v, err)
		}
	}
}

// Errors name the file, the line and what to do.
func TestReadVerified_Refuses(t *testing.T) {
	for content, want := range map[string]string{
		"path,labels\na.jpg,cat\nz.jpg,dog\n":         `line 3: the data have no picture "z.jpg": name it as the data do, or leave the row out`,
		"path,labels\na.jpg,cat\nb.jpg,cow;dog\n":     `line 3: label "cow" is none of the 3 classes of the data: correct its spelling, or leave it out`,
		"path,labels\na.jpg,cat\nphotos/a.jpg,dog\n":  `line 3: picture "photos/a.jpg" is there twice: leave out one of the rows`,
		"path,labels\na.jpg,cat;dog\na.jpg,cat;dog\n": "1 of its rows repeat others: leave them out",
		"path,labels\na.jpg,cat;dog\na.jpg,dog\n":     `line 3, column "path": "a.jpg" repeats line 2 with other content`,
		"path,labels\n":                 "there are no rows",
		"":                              "empty",
		"path,labels\na.jpg,\nb.jpg,\n": "none of 2 pictures has a label: list all true labels of each picture",
		"path,labels\nd.jpg,cat\n":      "all its pictures are held out for validation or test: check training pictures",
	} {
		_, err := readVerified(t, "verified.csv", content)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "verified.csv") ||
			!errors.Is(err, loader.ErrAnnotations) {
			t.Errorf("%q: %v, want %s", content, err, want)
		}
	}
}
