package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// The instances of COCO come out as such: the annotation of a wrong label is gone.
func TestAuditRun_WritesInstancesOfCOCO(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writePictures(t, dir, 40)
	type object map[string]any
	var images, annotations, categories []object
	for i := range 40 {
		images = append(images, object{"id": i, "file_name": fmt.Sprintf("%d.png", i), "width": 32, "height": 24})
		annotations = append(annotations, object{"id": 100 + i, "image_id": i, "category_id": i%3 + 1,
			"bbox": []int{1, 1, 4, 4}})
	}
	for c, name := range colours {
		categories = append(categories, object{"id": c + 1, "name": name})
	}
	text, err := json.Marshal(object{"images": images, "annotations": annotations, "categories": categories})
	check(t, err)
	file := filepath.Join(dir, "instances_all.json")
	write(t, file, string(text))
	_, n, fixed, _ := corrected(t, ".json", ofColour, severalOf("--set", "data.manifest="+file)...)
	got := read(t, fixed)
	if strings.Contains(got, fmt.Sprintf(`"id":%d,`, 100+n)) || !strings.Contains(got, `"bbox":[0,0,32,24]`) ||
		strings.Count(got, `"image_id"`) != 40 {
		t.Errorf("%.600s", got)
	}
}

// A folder for each label cannot say that a picture has another one too: a manifest can.
func TestAuditRun_WritesAManifestOfFolders(t *testing.T) {
	t.Parallel()
	folder, fixed := audited(t, severalOf("--images", classFolders(t, 36))...), filepath.Join(t.TempDir(), "fixed.csv")
	must(t, "audit", folder, "--noise-rates", "folds:2")
	id := trainIDs(t, folder)[0]
	label, _, _ := strings.Cut(id, "/")
	c := decided(t, folder, fixed, [3]string{id, label, "1"})
	if got := read(t, fixed); !strings.Contains(got, "\n"+id+",,train\n") || strings.Count(got, "\n") != 37 ||
		!strings.Contains(c.err, "a new manifest") {
		t.Errorf("%s\n%s", c.err, got)
	}
	learns(t, fixed)
}

// A table with a row for each picture and label stays one: a label that is missing gets a row of its own.
func TestAuditRun_WritesRowsOfPicturesAndLabels(t *testing.T) {
	t.Parallel()
	file := manifestOf(t, 40, "Image,Tag", func(i int) string {
		return fmt.Sprintf("%d.png,%s\n%d.png,thing%d", i, colours[i%3], i, i%2)
	})
	_, n, fixed, c := corrected(t, ".csv", func(n int) [][2]string {
		return append(ofColour(n), [2]string{colours[(n+2)%3], "0"})
	}, onPictures("--set", "data.manifest="+file)...)
	row := func(label string) string { return fmt.Sprintf("\n%d.png,%s\n", n, label) }
	got := read(t, fixed)
	if strings.Contains(got, row(colours[n%3])) || !strings.Contains(got, row(colours[(n+1)%3])) ||
		!strings.Contains(got, row(colours[(n+2)%3])) || strings.Count(got, "\n") != 82 ||
		!strings.Contains(c.err, "the same manifest") {
		t.Errorf("%s\n%s", c.err, got)
	}
}

// Corrections of a list without header are a CSV file. Its numbers stay names of classes, also if all are 0 or 1.
func TestAuditRun_WritesAManifestOfNumbers(t *testing.T) {
	t.Parallel()
	file := manifestOf(t, 40, "", func(i int) string { return fmt.Sprintf("%d.png %d", i, i%2) })
	id, n, fixed, _ := corrected(t, ".csv", func(n int) [][2]string {
		return [][2]string{{fmt.Sprint(n % 2), "1"}, {fmt.Sprint((n + 1) % 2), "0"}}
	}, severalOf("--set", "data.manifest="+file)...)
	if got := read(t, fixed); !strings.Contains(got, fmt.Sprintf("\n%s,%d,train\n", id, (n+1)%2)) ||
		strings.Count(got, "\n") != 41 {
		t.Errorf("%s", got)
	}
}
