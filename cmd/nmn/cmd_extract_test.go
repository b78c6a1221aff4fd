package main

import (
	"bytes"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nmn/internal/expect"
	"nmn/kernels"
	"nmn/loader"
	"nmn/loader/dataset"
	"nmn/loader/features"
	"nmn/run"
	"nmn/train"
)

// readRows reads all rows of a file of features with their labels and identifiers.
func readRows(t *testing.T, file, labels string) (rows [][]float32, table *features.Table) {
	t.Helper()
	table, err := features.Open(t.Context(), features.Options{Features: file, Labels: labels, Limit: 1 << 30,
		Unlabelled: labels == ""})
	expect.OK(t, err)
	t.Cleanup(func() { table.Close() })
	for i := range table.Rows.Len() {
		row := make([]float32, table.Rows.Width())
		expect.OK(t, table.Rows.Read(i, row))
		rows = append(rows, row)
	}
	return rows, table
}

// noisyScenes is the training split that tiny runs on.
func noisyScenes(t *testing.T, dir string) *dataset.Splits {
	t.Helper()
	c, err := run.ReadConfig(dir)
	expect.OK(t, err)
	d, err := c.OpenData(t.Context(), dataset.Options{})
	expect.OK(t, err)
	t.Cleanup(func() { d.Close() })
	return d
}

func TestExtract_TrainsAHeadOnWhatARunHasLearned(t *testing.T) {
	t.Parallel()
	skipShort(t, "trains several runs")
	dir, work := trained(t, "--arm", "nmn-fi", "--noise", "0.4"), t.TempDir()
	x, y, ids, truth := filepath.Join(work, "x.npy"), filepath.Join(work, "y.csv"), filepath.Join(work,
		"ids.txt"), filepath.Join(work, "truth.csv")
	out := must(t, "extract", dir, "--output", x, "--output-labels", y, "--output-truth", truth, "--output-ids", ids,
		"--threads", "1", "--batch-size", "7")
	wantParts(t, out, "96 rows of 64 features, pool5")
	rows, table := readRows(t, x, y)
	set := noisyScenes(t, dir).Train
	if len(rows) != set.Len() || !slices.Equal(table.IDs, set.IDs) ||
		!bytes.Equal(table.Labels.Values, set.Labels.Uint8s()) {
		t.Errorf("%d rows, or identifiers and labels other than those trained on", len(rows))
	}
	if _, known := readRows(t, x, truth); bytes.Equal(known.Labels.Values, table.Labels.Values) ||
		!bytes.Equal(known.Labels.Values, set.Truth.Uint8s()) {
		t.Error("true labels are the noisy ones, or others than what is in the pictures")
	}
	if listed, err := loader.ReadIDs(t.Context(), ids); err != nil || !slices.Equal(listed, set.IDs) {
		t.Errorf("the list of identifiers: %v", err)
	}

	other := filepath.Join(work, "other.npy")
	must(t, "extract", dir, "--output", other, "--threads", "2", "--set", "run.workers=3", "--batch-size", "32")
	if !bytes.Equal(readBytes(t, x), readBytes(t, other)) {
		t.Error("features depend on threads or on the size of batches")
	}
	must(t, "train", x, "--labels", y, "--set", "data.features.ids="+ids, "--set", "net.hidden=[]",
		"--set", "train.stage1_epochs=1", "--set", "train.stage2_epochs=1", "--run-dir", filepath.Join(work, "head"), "-q")
	head := filepath.Join(work, "head")
	wantUsage(t, call(t, "extract", head, "--output", filepath.Join(work, "again.npy")), "64 features")
	for _, split := range []string{"validation", "test"} {
		file, labels := filepath.Join(work, split+".safetensors"), filepath.Join(work, split+".csv")
		must(t, "extract", dir, "--split", split, "--layer", "fc7", "--output", file, "--output-labels", labels)
		readRows(t, file, labels)
	}
}

func TestExtract_RowsAreWhatTheNetComputes(t *testing.T) {
	t.Parallel()
	dir, work := trainedArm(t, "nmn-fi"), t.TempDir()
	file := filepath.Join(work, "p.safetensors")
	must(t, "extract", dir, "--split", "test", "--layer", "probabilities", "--output", file)
	got, _ := readRows(t, file, "")
	backend, _, err := kernels.Open(kernels.Config{Device: "cpu", Threads: 1, Logger: slog.New(slog.DiscardHandler)})
	expect.OK(t, err)
	defer backend.Close()
	net, _, err := train.OpenNet(filepath.Join(dir, train.LastName), backend)
	expect.OK(t, err)
	defer net.Close()
	d := noisyScenes(t, dir)
	l := loader.DefaultConfig()
	scores, err := train.Score(t.Context(), net, d.Test, l)
	expect.OK(t, err)
	if !slices.Equal(slices.Concat(got...), scores.Prob.Float32s()) {
		t.Error("probabilities are not those of the net")
	}
}

func TestExtract_PicturesThatCannotBeReadHaveNoRow(t *testing.T) {
	t.Parallel()
	dir, work := trainedArm(t, "nmn-fi"), t.TempDir()
	folder := filepath.Join(work, "scenes")
	must(t, "scenes", "--number", "5", "--split", "test", folder)
	images := filepath.Join(folder, "images")
	captions := func(file string) (labels []string) {
		table := filepath.Join(work, file+".csv")
		must(t, "extract", dir, "--set", "data.set=captions",
			"--set", "data.captions="+filepath.Join(folder, "captions_test2014.json"), "--set", "data.images="+images,
			"--set", "data.validation_share=0", "--set", "data.test_share=0", "--set", "data.noise=0", "--max-bad-samples", "1",
			"--output", filepath.Join(work, file+".npy"), "--output-labels", table)
		return strings.Split(strings.TrimSpace(read(t, table)), "\n")
	}
	whole := captions("whole")
	second := filepath.Join(images, "COCO_test2014_000000000002.jpg")
	write(t, second, "no picture")
	x, ids := filepath.Join(work, "x.npy"), filepath.Join(work, "ids.txt")
	c := succeeds(t, "extract", dir, images, "--layer", "fc7", "--output", x, "--output-ids", ids, "--batch-size", "2",
		"--json")
	wantParts(t, c.err, "1 of 5 pictures", second)
	if v := readJSON(t, c.out); v["rows"] != 4. || v["left_out"] != 1. || v["layer"] != "fc7" {
		t.Errorf("told %s", c.out)
	}
	rows, _ := readRows(t, x, "")
	listed, err := loader.ReadIDs(t.Context(), ids)
	if err != nil || len(listed) != 4 || len(rows) != 4 {
		t.Fatalf("%d rows of %v: %v", len(rows), listed, err)
	}
	for i, id := range listed { // each row is that of its picture
		one := filepath.Join(work, "one.npy")
		must(t, "extract", dir, filepath.Join(images, id), "--layer", "fc7", "--output", one)
		if alone, _ := readRows(t, one, ""); !slices.Equal(alone[0], rows[i]) {
			t.Errorf("row %d is not that of %s", i, id)
		}
	}

	if labels := captions("rest"); len(whole) != 6 || !slices.Equal(labels, slices.Delete(whole, 2, 3)) {
		t.Errorf("labels of the pictures that are left: %q", labels)
	}

	wantUsage(t, call(t, "extract", dir, "--set", "data.set=captions", "--set", "data.captions="+filepath.Join(folder,
		"captions_test2014.json"), "--set", "data.images="+images, "--set", "data.noise=0",
		"--set", "data.validation_share=0", "--set", "data.test_share=0", "--output", x, "--output-truth", filepath.Join(work,
			"none.csv")), "true labels of the train split are not known")
	refused := filepath.Join(work, "refused.npy")
	c = call(t, "extract", dir, images, "--output", refused, "--max-bad-samples", "0")
	wantFailure(t, c, second)
	if left, _ := filepath.Glob(filepath.Join(work, "*refused.npy*")); left != nil {
		t.Errorf("a failure leaves %v", left)
	}
}

func TestExtract_RefusesWhatDoesNotGoTogether(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{dir}, "--output"},
		{[]string{dir, "--output", "x.csv"}, ".npy or .safetensors"},
		{[]string{dir, "--output", "x.npy", "--output-labels", "y.npy"}, ".csv"},
		{[]string{dir, "--output", "x.npy", "--output-ids", "x.npy"}, "file of --output"},
		{[]string{dir, "--output", "x.npy", "--output-labels", "y.csv", "--output-truth", "y.csv"},
			"file of --output-labels"},
		{[]string{dir, "--output", "x.npy", "--output-truth", "y.txt"}, `--output-truth is "y.txt"`},
		{[]string{dir, "a.jpg", "--output", "x.npy", "--output-truth", "y.csv"}, "--output-truth is for the data"},
		{[]string{dir, "--output", "x.npy", "--layer", "conv1"}, "pool5"},
		{[]string{dir, "--output", "x.npy", "--batch-size", "0"}, "--batch-size"},
		{[]string{dir, "a.jpg", "--output", "x.npy", "--output-labels", "y.csv"}, "--output-labels is for the data"},
		{[]string{dir, "a.jpg", "--output", "x.npy", "--split", "test"}, "--split is for the data"},
		{[]string{dir, "a.jpg", "--output", "x.npy", "--set", "data.captions=c.json"}, "data.captions is for the data"},
		{[]string{dir, "a.jpg", "--output", "x.npy", "--max-bad-samples", "-1"}, "--max-bad-samples"},
		{[]string{dir, "--output", "x.npy"}, "last.safetensors"},
		{[]string{}, "extract"},
	} {
		wantUsage(t, call(t, append([]string{"extract"}, c.args...)...), c.says)
	}
}
