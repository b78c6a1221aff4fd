package manifest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nmn/internal/expect"
	"nmn/text"
)

// é as one letter, and as e with an accent, as macOS stores names.
const composed, decomposed = "\u00e9", "e\u0301"

// formFolder makes a folder with files. It skips the test if the file system compares names in one normal form.
func formFolder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := folderWith(t, files)
	expect.OK(t, os.WriteFile(filepath.Join(dir, composed), nil, 0o644))
	if _, err := os.Stat(filepath.Join(dir, decomposed)); err == nil {
		t.Skip("the file system compares names in one normal form")
	}
	return dir
}

// Labels in both forms are one class, in every form of labels.
func TestManifest_LabelsInBothNormalForms(t *testing.T) {
	for name, content := range map[string]string{
		"list":    "path,labels\n1.png,caf" + composed + "\n2.png,caf" + decomposed + ";x\n",
		"columns": "path,caf" + composed + ",caf" + decomposed + ",x\n1.png,1,0,0\n2.png,0,1,1\n",
		"lines":   `{"path":"1.png","labels":["caf` + composed + `"]}` + "\n" + `{"path":"2.png","labels":["cafe\u0301","x"]}`,
	} {
		m := parsed(t, content)
		if !slices.Equal(m.Labels, []string{"caf" + composed, "x"}) || !slices.Equal(m.Rows[0].Labels, []int32{0}) ||
			!slices.Equal(m.Rows[1].Labels, []int32{0, 1}) {
			t.Errorf("%s: %+q, %+v", name, m.Labels, m.Rows)
		}
		v, err := text.NewVocabulary([]text.Word{{Text: "x"}, {Text: "caf" + decomposed}})
		expect.OK(t, err)
		if foreign := m.Foreign(v); foreign.Rows > 0 {
			t.Errorf("%s: labels %+q are not in a vocabulary that writes them otherwise", name, foreign.Labels)
		}
	}
}

func TestManifest_FilesInTheOtherNormalForm(t *testing.T) {
	dir := formFolder(t, map[string]string{"Caf" + decomposed + "/" + decomposed + ".png": "",
		"th" + composed + ".jpg": ""})
	m := parsed(t, "path,labels\nCaf"+composed+"/"+composed+".png,x\nth"+decomposed+".jpg,y\n")
	err := m.FindFiles(t.Context(), dir, nil)
	if err != nil || m.Rows[0].Files[0] != "Caf"+decomposed+"/"+decomposed+".png" ||
		m.Rows[1].Files[0] != "th"+composed+".jpg" {
		t.Errorf("%+v, %v", m.Rows, err)
	}
}

// Folders of VOC and YOLO join pictures and files of labels by their names.
func TestManifest_FoldersInBothNormalForms(t *testing.T) {
	voc := "<annotation><filename>" + composed + ".jpg</filename><object><name>dog</name></object></annotation>"
	for name, files := range map[string]map[string]string{
		"voc": {"Annotations/" + composed + ".xml": voc, "JPEGImages/" + decomposed + ".jpg": "",
			"ImageSets/Main/train.txt": decomposed + "\n"},
		"yolo": {"labels/" + composed + ".txt": "0 .5 .5 1 1\n", "images/" + decomposed + ".jpg": "",
			"classes.txt": "dog\n"},
		"folders": {"train/dog" + composed + "/1.jpg": "", "val/dog" + decomposed + "/2.jpg": ""},
	} {
		dir := formFolder(t, files)
		m, err := Read(t.Context(), dir, Options{})
		if err == nil {
			err = m.FindFiles(t.Context(), m.Folder, nil)
		}
		if err != nil || len(m.Labels) != 1 || len(m.Rows[0].Labels) != 1 {
			t.Errorf("%s: %+v, %v", name, m, err)
		}
	}
}

// The vocabulary of a model decides how cells are read, in whichever form it is written.
func TestManifest_WordsInTheOtherNormalForm(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.csv")
	list := "path,labels\n1.png,caf" + composed + " th" + composed + "\n2.png,caf" + decomposed + "\n"
	expect.OK(t, os.WriteFile(path, []byte(list), 0o644))
	m, err := Read(t.Context(), path, Options{Words: []string{"caf" + decomposed, "th" + decomposed}})
	if err != nil || m.Form != FormBlanks || strings.Join(m.Labels, " ") != "caf"+composed+" th"+composed {
		t.Errorf("%+v, %v", m, err)
	}
	if text.AlikeKey("Caf"+decomposed) != text.AlikeKey("caf"+composed) {
		t.Error("names that are nearly equal in two forms")
	}
}

// Labels that differ in spelling alone are one label: the one of the words, else the most frequent.
func TestRead_JoinsLabels(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "m.csv")
	read := func(content string, o Options) (*Manifest, string) {
		t.Helper()
		expect.OK(t, os.WriteFile(file, []byte(content), 0o666))
		m, err := Read(t.Context(), file, o)
		expect.OK(t, err)
		return m, m.text()
	}
	const lists = "path,labels,truth,counts\na,Dog;cat,dog,dog:2;Dog:1\nb,dog;DOG,Dog,-\nc,dog;ice-cream,-,cat:1\nd,Ice Cream,-,-\n"
	m, got := read(lists, Options{JoinLabels: true})
	if got != "cat,dog dog dog,ice-cream ice-cream" || len(m.Labels) != 3 || m.named(m.Rows[1].Truth) != "dog" ||
		m.Rows[2].Truth == nil || m.Rows[0].Counts[0].Count != 3 || len(m.Rows[0].Counts) != 1 || m.Joined["DOG"] != "dog" {
		t.Errorf("%q of %q, %+v", got, m.Labels, m.Rows)
	}
	if _, got := read(lists, Options{JoinLabels: true, Words: []string{"DOG", "cat", "ICE CREAM"}}); got !=
		"DOG,cat DOG DOG,ICE CREAM ICE CREAM" {
		t.Errorf("with words: %q", got)
	}
	if m, got := read(lists, Options{}); got != "Dog,cat DOG,dog dog,ice-cream Ice Cream" || m.Joined != nil {
		t.Errorf("not joined: %q", got)
	}
	if m, got := read("path,tag\na,Dog\na,cat\nb,dog\nb,Cat\nc,dog\n", Options{JoinLabels: true}); got !=
		"cat,dog cat,dog dog" || m.Form != FormPairs {
		t.Errorf("pairs: %q, %+v", got, m)
	}
	tree := folderWith(t, map[string]string{"Cat/1.jpg": "", "cat/2.jpg": "", "cat/3.jpg": "", "dog/4.jpg": ""})
	m, err := Read(t.Context(), tree, Options{JoinLabels: true})
	if err != nil || len(m.Labels) != 2 || m.named(m.Rows[0].Labels) != "cat" {
		t.Errorf("folders: %+v, %v", m, err)
	}
}
