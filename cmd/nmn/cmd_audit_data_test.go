package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"nmn/internal/expect"
	"nmn/loader"
	"nmn/run"
	runaudit "nmn/run/audit"
)

// One command finds in data what training and an audit of the run find, and does not train again for a correction.
func TestAuditData_IsTrainingAndAudit(t *testing.T) {
	skipShort(t, "audits runs of every kind of data")
	t.Parallel()
	for name, c := range map[string]struct {
		data     func() string
		more     []string
		settings []string
	}{
		"pictures": {
			data: func() string {
				return manifestOf(t, 60, "path,labels", func(i int) string { return fmt.Sprintf("%d.png,%s", i, colours[i%3]) })
			},
			settings: []string{"net.arch=scenes", "net.input_size=48", "net.width=0.5", "data.validation_share=0",
				"recipe.form=estimate", "noise_rates=online", "arm=held-rates"},
		},
		"features": {
			data: func() string {
				path := filepath.Join(t.TempDir(), "x.csv")
				rows, labels := featureRows(120)
				write(t, path, csvText("id,x1,x2", rows...))
				write(t, strings.TrimSuffix(path, "x.csv")+"y.csv", csvText("id,cat,dog", labels...))
				return path
			},
			more:     []string{"--labels", "y.csv"},
			settings: []string{"net.hidden=[4]", "recipe.fold_epochs=2"},
		},
	} {
		data := c.data()
		more := append([]string{"--device", "cpu"}, c.more...)
		if len(c.more) > 0 {
			more[len(more)-1] = filepath.Join(filepath.Dir(data), "y.csv")
		}
		for _, s := range append(c.settings, "train.stage1_epochs=1", "train.stage2_epochs=1", "train.batch_size=8") {
			more = append(more, "--set", s)
		}
		whole, dir := filepath.Join(t.TempDir(), "run"), filepath.Join(t.TempDir(), "run")
		must(t, append([]string{"train", data, "--run-dir", whole}, more...)...)
		audit := []string{"audit", whole, "--top", "5", "--min-error", "0.01"}
		if name == "pictures" { // the run has scores of some bags alone
			audit = append(audit, "--noise-rates", "folds:2")
		}
		want := must(t, audit...)
		one := append([]string{"audit", data, "--run-dir", dir, "--top", "5", "--min-error", "0.01"}, more...)
		if got := must(t, one...); got != want {
			t.Errorf("%s: one command finds\n%s\nand two find\n%s", name, got, want)
		}
		readBytes(t, dir, filepath.Join(runaudit.Folder, "audit.html"))
		fixed := filepath.Join(t.TempDir(), "fixed.csv")
		again := call(t, append(one, "--apply=force", "--precision", "0.1", "--output", fixed)...)
		if again.code != exitOK || strings.Contains(again.err, "epoch 1,") {
			t.Errorf("%s: a correction: exit code %d: %s", name, again.code, again.err)
		}
		readBytes(t, fixed)
	}
}

func TestAuditData_RefusesWhatIsOfRunsAndScores(t *testing.T) {
	data := manifestOf(t, 6, "path,labels", func(i int) string { return fmt.Sprintf("%d.png,%s", i, colours[i%3]) })
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--scores", "s.csv"}, "--scores is for score files, and "},
		{[]string{"--fold-epochs", "2"}, "--set recipe.fold_epochs=N"},
		{[]string{"--noise-rates", "folds:x"}, "folds:x"},
		{[]string{"--set", "data.nois=.2"}, "did you mean data.noise?"},
		{[]string{"--min-error", "2"}, "--min-error is 2"},
	} {
		wantUsage(t, call(t, append([]string{"audit", data, "--run-dir", filepath.Join(t.TempDir(), "run")}, c.args...)...),
			c.want)
	}
}

// Corrections of instances of COCO are a new manifest.
func TestAuditRun_WritesAManifestOfCOCO(t *testing.T) {
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
	expect.OK(t, err)
	file := filepath.Join(dir, "instances_all.json")
	write(t, file, string(text))
	_, n, fixed, c := corrected(t, ".csv", ofColour, severalOf("--set", "data.manifest="+file)...)
	got := read(t, fixed)
	if !strings.Contains(got, fmt.Sprintf("\n%d.png,%s,train\n", n, colours[(n+1)%3])) ||
		strings.Count(got, "\n") != 41 || !strings.Contains(c.err, "a new manifest") {
		t.Errorf("%.600s\n%s", got, c.err)
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

// A table with a row for each picture and label becomes a new one, with a row for each picture.
func TestAuditRun_WritesRowsOfPicturesAndLabels(t *testing.T) {
	t.Parallel()
	file := manifestOf(t, 40, "Image,Tag", func(i int) string {
		return fmt.Sprintf("%d.png,%s\n%d.png,thing%d", i, colours[i%3], i, i%2)
	})
	_, n, fixed, c := corrected(t, ".csv", func(n int) [][2]string {
		return append(ofColour(n), [2]string{colours[(n+2)%3], "0"})
	}, onPictures("--set", "data.manifest="+file)...)
	got := read(t, fixed)
	line := regexp.MustCompile(fmt.Sprintf("\n%d.png,(.*),train\n", n)).FindStringSubmatch(got)
	if line == nil || strings.Contains(line[1], colours[n%3]) || !strings.Contains(line[1], colours[(n+1)%3]) ||
		!strings.Contains(line[1], colours[(n+2)%3]) || strings.Count(got, "\n") != 41 ||
		!strings.Contains(c.err, "a new manifest") {
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

// labelLine finds the line of a clip in a file of labels.
func labelLine(t *testing.T, file, clip string) (label loader.ClipLabel) {
	t.Helper()
	for _, line := range strings.Split(strings.TrimSpace(read(t, file)), "\n")[1:] {
		expect.OK(t, json.Unmarshal([]byte(line), &label))
		if label.Clip == clip {
			return label
		}
		label = loader.ClipLabel{}
	}
	t.Fatalf("%s has no clip %q", file, clip)
	return label
}

// nameLabels rewrites a file of captions as one of labels by name: what the clips show.
func nameLabels(t *testing.T, file string) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(read(t, file)), "\n")
	out := []string{`{"format":"nmn-labels","version":1}`}
	for _, line := range lines[1:] {
		var label loader.ClipLabel
		expect.OK(t, json.Unmarshal([]byte(line), &label))
		text, err := json.Marshal(loader.ClipLabel{Clip: label.Clip, Labels: label.Truth})
		expect.OK(t, err)
		out = append(out, string(text))
	}
	write(t, file, strings.Join(out, "\n")+"\n")
}

// Labels of clips are corrected in a file of labels that the next run learns, whether they were given by name or came
// from captions.
func TestAuditRun_WritesLabelsOfClips(t *testing.T) {
	t.Parallel()
	skipShort(t, "audits runs of every kind of data")
	for name, captioned := range map[string]bool{"labels": false, "captions": true} {
		t.Run(name, func(t *testing.T) {
			folders, data := clipFolders(t)
			file := filepath.Join(folders, "train", loader.LabelsName)
			if !captioned {
				for _, split := range []string{"train", "val", "test"} {
					nameLabels(t, filepath.Join(folders, split, loader.LabelsName))
				}
			}
			dir := filepath.Join(t.TempDir(), "run")
			must(t, slices.Concat([]string{"train", "--arm", "baseline", "--epochs", "1", "--run-dir", dir}, data)...)
			must(t, "audit", dir, "--noise-rates", "folds:2", "--fold-epochs", "1")
			wantCode(t, call(t, "audit", dir, "--apply", "--output", filepath.Join(t.TempDir(), "x.csv")), exitUsage, ".jsonl")
			wantCode(t, call(t, "audit", dir, "--apply", "--output", file), exitUsage, "has learned from")
			before := noisyScenes(t, dir).Train
			words, id := before.Vocabulary.Texts(), before.IDs[0]
			gone := slices.Index(before.Labels.Uint8s()[:len(words)], 1)
			fixed := filepath.Join(t.TempDir(), "fixed.jsonl")
			decided(t, dir, fixed, [3]string{id, words[gone], "1"})
			got := labelLine(t, fixed, id)
			if got.Captions != nil || slices.Contains(got.Labels, words[gone]) || len(got.Labels) == 0 {
				t.Errorf("%q was taken away, and the line is %+v", words[gone], got)
			}
			again := noisyScenes(t, learns(t, fixed)).Train
			want := slices.Clone(before.Labels.Uint8s())
			want[gone] = 0
			if !slices.Equal(again.Vocabulary.Texts(), words) || !slices.Equal(again.Labels.Uint8s(), want) {
				t.Error("the next run has learned other labels than those with the correction")
			}
			must(t, slices.Concat([]string{"train", "--arm", "baseline", "--epochs", "1", "--set", "data.clip_labels=" + fixed,
				"--run-dir", filepath.Join(t.TempDir(), "flag")}, data[:4], []string{"--vocab",
				filepath.Join(folders, "train", run.VocabularyFile), "--set", "net.width=0.5", "--device", "cpu"})...)
		})
	}
}
