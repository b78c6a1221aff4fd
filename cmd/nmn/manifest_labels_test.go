package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"nmn/format/table"
	"nmn/internal/expect"
)

// asManifest writes the labels of a folder of scores as a manifest, whose rows lie in another order and have the names
// of files, and returns it with the rows by bag.
func asManifest(t *testing.T, dir string) (file string, rows map[string]string) {
	t.Helper()
	labels, err := table.ReadLabels(filepath.Join(dir, "labels.csv"))
	expect.OK(t, err)
	text, rows := "", map[string]string{}
	for i, id := range labels.IDs {
		var names []string
		for c, word := range labels.Words {
			if labels.Values[i*labels.Cols+c] == 1 {
				names = append(names, word)
			}
		}
		rows[id] = fmt.Sprintf("pictures/%s.jpg,%s,n%d\n", id, strings.Join(names, ";"), i)
		text = rows[id] + text
	}
	file = filepath.Join(dir, "pictures.csv")
	write(t, file, "path,labels,note\n"+text)
	return file, rows
}

func TestAudit_TakesLabelsFromAManifest(t *testing.T) {
	t.Parallel()
	dir := scoreFolder(t)
	file, rows := asManifest(t, dir)
	scores := []string{"--scores", filepath.Join(dir, "scores.csv"), "--json"}
	table := must(t, append([]string{"audit", "--labels", filepath.Join(dir, "labels.csv")}, scores...)...)
	if got := must(t, append([]string{"audit", "--labels", file}, scores...)...); got != table {
		t.Errorf("a manifest gives\n%.300s\na table\n%.300s", got, table)
	}
	if got, want := must(t, append([]string{"rates", "--labels", file}, scores...)...),
		must(t, append([]string{"rates", "--labels", filepath.Join(dir, "labels.csv")}, scores...)...); got != want {
		t.Errorf("rates of a manifest are\n%.300s\nof a table\n%.300s", got, want)
	}
	fixed := filepath.Join(dir, "fixed.csv")
	must(t, append([]string{"audit", "--labels", file, "--apply=force", "--output", fixed}, scores...)...)
	got, changed := read(t, fixed), 0
	if !strings.HasPrefix(got, "path,labels,note\n") {
		t.Fatalf("corrected: %.100s", got)
	}
	for _, row := range rows {
		if !strings.Contains(got, row) {
			changed++
		}
	}
	bags := map[string]bool{}
	for _, line := range strings.Split(read(t, filepath.Join(dir, "fixed.changes.csv")), "\n")[1:] {
		id, _, _ := strings.Cut(line, ",")
		bags[id] = id != ""
	}
	delete(bags, "")
	if changed != len(bags) || changed == 0 {
		t.Errorf("%d rows have changed, of %d bags", changed, len(bags))
	}
}

func TestAudit_RefusesAManifestOfOtherBags(t *testing.T) {
	dir := scoreFolder(t)
	file := filepath.Join(dir, "pictures.csv")
	on := func() called { return call(t, "audit", "--labels", file, "--scores", filepath.Join(dir, "scores.csv")) }
	write(t, file, "path,labels\nbag0.jpg,cat;dog;fog\n")
	wantFailure(t, on(), `no row has the id "bag1"`)
	write(t, file, "path,labels\nbag0.jpg,cat;dog\n")
	wantFailure(t, on(), `no row has the label "fog"`)
}

// What an audit of tables of pictures writes begins with a column id, which names the pictures.
func TestTrain_TakesCorrectedTablesAsAManifest(t *testing.T) {
	t.Parallel()
	file := manifestOf(t, 30, "id,red,green,blue", func(i int) string {
		cells := []string{"0", "0", "0"}
		cells[i%3] = "1"
		return fmt.Sprintf("%d.png,%s", i, strings.Join(cells, ","))
	})
	must(t, onManifest(file, filepath.Join(t.TempDir(), "run"), "--arm", "stage1")...)
}
