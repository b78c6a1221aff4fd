package dataset

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var words = strings.Fields("ant bear cat dog eel fox goat hen ibis jay")

// packedTable is a table of rows whose lists of labels stand in one cell each, with a separator that parts nothing.
func packedTable(separator string) string {
	var table strings.Builder
	table.WriteString("path,x,labels\n")
	for i := range 40 {
		fmt.Fprintf(&table, "%02d.png,%d,\"%s\"\n", i, i, packedLabel(i, separator))
	}
	return table.String()
}

func packedLabel(row int, separator string) string {
	label := words[row%10]
	if row%4 > 0 {
		label += separator + words[(row+row%4)%10]
	}
	return label
}

// labelsOf are the different labels of packedTable, by name.
func labelsOf(separator string) []string {
	labels := []string{}
	for row := range 40 {
		labels = append(labels, packedLabel(row, separator))
	}
	slices.Sort(labels)
	return slices.Compact(labels)
}

func written(t *testing.T, content string) string {
	t.Helper()
	dir := t.TempDir()
	for i := range 40 {
		fileOf(t, dir, fmt.Sprintf("%02d.png", i), "")
	}
	return fileOf(t, dir, "rows.csv", content)
}

// sourcesOf are a manifest and a table of features with the same lists of labels.
func sourcesOf(file string) map[Kind]*Config {
	manifest, features := DefaultConfig(), DefaultConfig()
	manifest.Set, manifest.Manifest, manifest.VocabularySize = Manifest, file, MaxClasses
	features.Set, features.Features.Train.Features, features.Features.Ignore = Features, file, []string{"path"}
	return map[Kind]*Config{Manifest: &manifest, Features: &features}
}

func TestOpen_RefusesListsOfLabelsInOneString(t *testing.T) {
	file := written(t, packedTable(","))
	of := sourcesOf(file)
	lines := []string{}
	for line := range strings.Lines(packedTable(",")) { // so that a manifest has lists of lists
		lines = append(lines, strings.Replace(line, `"`, `"thing;`, 1))
	}
	of[Manifest].Manifest = written(t, strings.Join(lines, ""))
	says := map[Kind][]string{ // classes of a manifest keep the order of its rows, classes of features are sorted by name
		Manifest: {of[Manifest].Manifest + ", line 3: ", `"bear,cat" looks like a list`, "(bear;cat)", `["bear", "cat"]`},
		Features: {file + ", row 11 ", `"ant,cat" looks like a list`, "(ant;cat)", `["ant", "cat"]`},
	}
	for kind, c := range of {
		refuseData(t, string(kind), c, append(says[kind], map[Kind]string{Features: "15 of 20", Manifest: "15 of 21"}[kind]+
			" labels hold a comma", "`data.vocabulary`")...)
		c.PackedLabels = true
		openedData(t, c)
	}
}

// A manifest's lists in one cell are parted at what its rows show to part them.
func TestOpen_PartsListsOfAManifest(t *testing.T) {
	for separator, says := range map[string]string{",": "labels: 10 classes, separated by commas in the column labels",
		";": "separated by ; in the column labels"} {
		data := openedData(t, sourcesOf(written(t, packedTable(separator)))[Manifest])
		if n := data.Train.Vocabulary.Len(); n != 10 || !strings.Contains(data.Describe(), says) {
			t.Errorf("%q: %d classes, %s", separator, n, data.Describe())
		}
	}
}

// Names that look like lists are accepted if a file of lines such as the message shows lists them.
func TestOpen_TakesNamesThatAVocabularyLists(t *testing.T) {
	names := labelsOf(",")
	for kind, c := range sourcesOf(written(t, packedTable(","))) {
		rest := "other, 1"
		if _, err := Open(t.Context(), c, Options{}); kind == Features {
			if err == nil {
				t.Fatalf("%s: opened", kind)
			}
			_, line, _ := strings.Cut(err.Error(), "on a line of its own with part of speech and count: ")
			name, shown, found := strings.Cut(line, ", ")
			if !found || !slices.Contains(names, name) {
				t.Fatalf("%s: the message shows no line: %v", kind, err)
			}
			rest = shown
		}
		var lines strings.Builder
		for _, name := range names {
			fmt.Fprintf(&lines, "%s, %s\n", name, rest)
		}
		c.Vocabulary = filepath.Join(t.TempDir(), "names.txt")
		writeFile(t, c.Vocabulary, lines.String())
		data := openedData(t, c)
		if got := data.Train.Vocabulary.Texts(); !slices.Equal(got, names) {
			t.Errorf("%s: classes %q, want %q", kind, got, names)
		}
	}
}

func TestOpen_TakesListsThatComeApart(t *testing.T) {
	file := written(t, strings.ReplaceAll(packedTable(";"), "ant", "ant bear, large"))
	for kind, c := range sourcesOf(file) {
		data := openedData(t, c)
		if n := data.Train.Vocabulary.Len(); n != 10 {
			t.Errorf("%s: %d classes, want 10", kind, n)
		}
	}
}
