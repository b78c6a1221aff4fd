package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nmn/internal/expect"
	"nmn/run"
)

// labelForm is a way to state that picture i shows colours[i%3] and, where i is even, "thing".
type labelForm struct {
	source string // relative to the folder; empty for the folder itself
	says   string // how it is described
	write  func(w *formWriter)
	args   []string
	single bool // of the two labels, only the colour can be stated
}

// formWriter writes pictures and the files that say what they show.
type formWriter struct {
	t   *testing.T
	dir string
	n   int
}

func (w *formWriter) file(name, content string) {
	w.t.Helper()
	path := filepath.Join(w.dir, filepath.FromSlash(name))
	expect.OK(w.t, os.MkdirAll(filepath.Dir(path), 0o777))
	write(w.t, path, content)
}

// pictures moves the pictures to where place says.
func (w *formWriter) pictures(place func(i int) string) {
	w.t.Helper()
	all := w.t.TempDir()
	writePictures(w.t, all, w.n)
	for i := range w.n {
		w.file(place(i), read(w.t, all, fmt.Sprintf("%d.png", i)))
	}
}

// of are the labels of a picture.
func (w *formWriter) of(i int) []string {
	if i%2 == 0 {
		return []string{colours[i%3], "thing"}
	}
	return colours[i%3 : i%3+1]
}

// labelForms are a folder, a folder with a file, and tables; package manifest tests all forms.
func labelForms() map[string]labelForm {
	number := map[string]int{"red": 0, "green": 1, "blue": 2, "thing": 3}
	return map[string]labelForm{
		"folders": {says: "a folder of pictures for each", single: true, write: func(w *formWriter) {
			w.pictures(func(i int) string { return fmt.Sprintf("%s/%d.png", colours[i%3], i) })
		}},
		"COCO": {source: "annotations/instances_all.json", says: "categories of COCO", write: func(w *formWriter) {
			w.pictures(func(i int) string { return fmt.Sprintf("images/%d.png", i) })
			var images, objects []string
			for i := range w.n {
				images = append(images, fmt.Sprintf(`{"id": %d, "file_name": "%d.png"}`, i, i))
				for _, name := range w.of(i) {
					objects = append(objects, fmt.Sprintf(`{"image_id": %d, "category_id": %d}`, i, number[name]))
				}
			}
			w.file("annotations/instances_all.json", fmt.Sprintf(`{"images": [%s], "annotations": [%s], "categories": [`+
				`{"id": 0, "name": "red"}, {"id": 1, "name": "green"}, {"id": 2, "name": "blue"}, {"id": 3, "name": "thing"}]}`,
				strings.Join(images, ","), strings.Join(objects, ",")))
		}},
		"blanks": {source: "list.csv", says: "separated by blanks in the column tags",
			args: []string{"--set", "data.label_form=blanks"}, write: func(w *formWriter) {
				w.pictures(func(i int) string { return fmt.Sprintf("%d.png", i) })
				rows := "filename,tags\n"
				for i := range w.n {
					rows += fmt.Sprintf("%d.png,%s\n", i, strings.Join(w.of(i), " "))
				}
				w.file("list.csv", rows)
			}},
		"pairs": {source: "list.csv", says: "a row for each picture and label, in the column Tag",
			write: func(w *formWriter) {
				w.pictures(func(i int) string { return fmt.Sprintf("%d.png", i) })
				rows := "Image,Tag\n"
				for i := range w.n {
					for _, label := range w.of(i) {
						rows += fmt.Sprintf("%d.png,%s\n", i, label)
					}
				}
				w.file("list.csv", rows)
			}},
	}
}

// Every form goes the whole way: look, train with flipped labels, evaluate, predict.
func TestTrain_OnEveryFormOfLabels(t *testing.T) {
	skipShort(t, "trains several runs")
	for name, f := range labelForms() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := &formWriter{t, t.TempDir(), 36}
			f.write(w)
			data := append([]string{"--preset", "scenes", "--set", "data.manifest=" +
				filepath.Join(w.dir, filepath.FromSlash(f.source)), "--set", "net.width=0.5", "--batch-size", "8", "--epochs", "1",
				"--device", "cpu", "--set", "data.validation_share=0.25", "--set", "data.test_share=0.25"}, f.args...)
			classes := 4
			if f.single {
				classes = 3
			}
			says := fmt.Sprintf("labels: %d classes, ", classes)
			wantParts(t, must(t, append([]string{"doctor"}, data...)...), says, f.says)
			wantParts(t, must(t, append([]string{"train", "--dry-run"}, data...)...), says, f.says)
			dir := filepath.Join(t.TempDir(), "run")
			must(t, append([]string{"train", "--arm", "nmn-fi", "--flips", "0.3:0.1", "--run-dir", dir}, data...)...)
			o, err := run.ReadOutcome(dir)
			if err != nil || o.Evaluation.Classes != classes || o.Evaluation.Bags != 9 || o.Evaluation.Truth == nil {
				t.Fatalf("outcome %+v, %v; want %d classes of 9 bags and their truth", o, err, classes)
			}
			must(t, "eval", dir, "--split", "validation")
			must(t, goOn(dir)...)
			if out := must(t, "predict", dir, w.dir, "--threshold", "0"); strings.Count(out, ".png") < w.n {
				t.Errorf("predictions %.300s", out)
			}
		})
	}
}

// A folder for each label needs no manifest, and any other folder says what one looks like.
func TestTrain_OnFoldersOfPictures(t *testing.T) {
	t.Parallel()
	w := &formWriter{t, t.TempDir(), 24}
	labelForms()["folders"].write(w)
	out := must(t, "train", "--images", w.dir, "--dry-run", "--preset", "scenes", "--device", "cpu", "--batch-size", "8")
	wantParts(t, out, "3 classes", "labels: 3 classes, a folder of pictures for each")
	c := printed(t, "train", "--images", w.dir)
	if c.Data.Set != "manifest" || c.Data.Manifest != "" || c.Data.VocabularySize != 100_000 {
		t.Errorf("data %+v", c.Data)
	}
	loose := t.TempDir()
	writePictures(t, loose, 3)
	wantUsage(t, call(t, "train", "--images", loose), "there are 3 pictures in it and no labels", "cat/1.jpg",
		"with this folder as --images")
}

// Numbers of classes in features are labels, in a file of their own or in a column; predict leaves the column out too,
// and a feature that is only called so stays one.
func TestTrain_OnFeaturesWithNumbersOfClasses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	var classes, plain strings.Builder
	classes.WriteString("a,b,label\n")
	plain.WriteString("x,y,l_even\n")
	for i := range 60 {
		fmt.Fprintf(&classes, "%d,%d,%d\n", i%7, i%3, i%3)
		fmt.Fprintf(&plain, "%d,%d.5,%d\n", i%7, i%2, i%2)
	}
	write(t, path("classes.csv"), classes.String())
	write(t, path("plain.csv"), plain.String())
	write(t, path("corners.csv"), "x,y\n1,0\n2,1\n")
	learn := []string{"train", "--arm", "stage1", "--set", "net.hidden=[4]", "--epochs", "1", "--set", "recipe.form=paper",
		"-q"}
	must(t, append(learn, "--set", "data.features.train.features="+path("classes.csv"), "--run-dir", path("classes"))...)
	o, err := run.ReadOutcome(path("classes"))
	if err != nil || o.Evaluation.Classes != 3 {
		t.Fatalf("outcome %+v, %v; want three classes", o, err)
	}
	if out := must(t, "predict", path("classes"), path("classes.csv"), "--format", "csv"); strings.Count(out, "\n") != 61 {
		t.Errorf("predictions %s", out)
	}
	wantUsage(t, call(t, "predict", path("classes"), path("classes.csv"), "--images", dir),
		"--images is for a list of pictures: leave it out")
	must(t, append(learn, "--set", "data.features.train.features="+path("plain.csv"), "--set",
		"data.features.label_columns=[\"l_*\"]", "--run-dir", path("plain"))...)
	if out := must(t, "predict", path("plain"), path("corners.csv"), "--format", "csv"); strings.Count(out, "\n") != 3 {
		t.Errorf("predictions %s", out)
	}
	words := read(t, filepath.Join(path("classes"), "vocabulary.txt"))
	if !strings.HasPrefix(words, "0, other, ") {
		t.Errorf("words %q", words)
	}
}

// What is not clear is refused with the flag that decides.
func TestTrain_NamesTheFlagOfAForm(t *testing.T) {
	t.Parallel()
	file := manifestOf(t, 12, "path,label", func(i int) string { return fmt.Sprintf("%d.png,%d", i, i%2) })
	c := call(t, onManifest(file, t.TempDir(), "--dry-run")...)
	wantFailure(t, c, "--set data.label_form=integers", "--set data.label_form=columns")
	for form, classes := range map[string]string{"integers": "2 classes", "columns": "1 class,"} {
		wantParts(t, must(t, onManifest(file, t.TempDir(), "--dry-run", "--set", "data.label_form="+form)...), classes)
	}
	wantUsage(t, call(t, onManifest(file, t.TempDir(), "--set", "data.label_form=guess")...), "want auto")
}

// A table as saved by Excel, with lists in cells: the form of the labels is printed on and off a terminal.
func TestTrain_SaysWhichLabelsItFound(t *testing.T) {
	t.Parallel()
	w := &formWriter{t, t.TempDir(), 36}
	w.pictures(func(i int) string { return fmt.Sprintf("%d.png", i) })
	table := "\ufeffFile Name;Tags\r\n"
	for i := range w.n {
		table += fmt.Sprintf("%d.png;%s, thing\r\n", i, colours[i%2])
	}
	w.file("list.csv", table)
	c := call(t, "train", filepath.Join(w.dir, "list.csv"), "--preset", "scenes", "--batch-size", "8", "--epochs", "1",
		"--device", "cpu", "--run-dir", filepath.Join(t.TempDir(), "run"))
	if c.code != 0 {
		t.Fatalf("exit code %d, %s", c.code, c.err)
	}
	wantParts(t, c.err, "3 classes, 2.00 labels each", "most often thing (28), ",
		"separated by commas in the column Tags", "CSV with path (File Name), Tags")
}

// Classes that differ in spelling alone are named, with the setting that joins them, and joined they stay in a run.
func TestTrain_ClassesWhoseNamesAreAlike(t *testing.T) {
	t.Parallel()
	file := manifestOf(t, 36, "Image,Label", func(i int) string {
		return fmt.Sprintf("%d.png,%s", i, []string{"red", "Red", "red ", "blue"}[i%4])
	})
	dir := filepath.Join(t.TempDir(), "run")
	plan := must(t, onManifest(file, dir, "--dry-run")...)
	doctor := must(t, "doctor", file, "--preset", "scenes", "--device", "cpu")
	for said, in := range map[string]string{"nearly equal: red and Red; data.join_labels true": plan,
		"differ only in case, blanks, hyphens or underscores: 1 group": doctor, "data.join_labels true": doctor} {
		wantParts(t, in, said)
	}
	joined := []string{"--set", "data.join_labels=true"}
	if out := must(t, append([]string{"doctor", file, "--preset", "scenes", "--device", "cpu"},
		joined...)...); strings.Contains(out, "alike") || !strings.Contains(out, "labels: 2 classes") {
		t.Errorf("joined: %s", out)
	}
	must(t, onManifest(file, dir, append(joined, "--arm", "stage1")...)...)
	if o, err := run.ReadOutcome(dir); err != nil || o.Evaluation.Classes != 2 {
		t.Errorf("outcome %+v, %v", o, err)
	}
	must(t, "eval", dir, "--split", "train")
}
