package main

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nmn/internal/expect"
	"nmn/internal/rng"
	"nmn/run"
	runaudit "nmn/run/audit"
)

// audited trains a tiny run on some data and returns its folder.
func audited(t *testing.T, args ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	must(t, append([]string{"train", "--batch-size", "8", "--epochs", "2", "--device", "cpu", "--run-dir", dir},
		args...)...)
	return dir
}

// onPictures are the flags of a tiny net on pictures.
func onPictures(args ...string) []string {
	return append([]string{"--preset", "scenes", "--set", "net.width=0.5", "--set", "data.validation_share=0"}, args...)
}

// severalOf are onPictures for classes that do not exclude each other, although each picture has one label.
func severalOf(args ...string) []string {
	return onPictures(append(args, "--set", "data.classes=multi")...)
}

// corrected trains on some data and decides that labels of the first picture are wrong. wrong returns them, each with
// its value, for the number in the picture's name. It trains on the corrected labels too, which are in the file fixed.
func corrected(t *testing.T, ending string, wrong func(n int) [][2]string, args ...string) (id string, n int,
	fixed string, said called) {
	t.Helper()
	dir := audited(t, args...)
	fixed = filepath.Join(t.TempDir(), "fixed"+ending)
	must(t, "audit", dir, "--noise-rates", "folds:2")
	id = trainIDs(t, dir)[0]
	fmt.Sscan(id, &n)
	var decisions [][3]string
	for _, w := range wrong(n) {
		decisions = append(decisions, [3]string{id, w[0], w[1]})
	}
	said = decided(t, dir, fixed, decisions...)
	learns(t, fixed)
	return id, n, fixed, said
}

// ofColour are the labels of a picture whose colour is taken for the next one.
func ofColour(n int) [][2]string { return [][2]string{{colours[n%3], "1"}, {colours[(n+1)%3], "0"}} }

// decided decides that some labels of an audited run are wrong: given by bag, word and label.
func decided(t *testing.T, dir, output string, wrong ...[3]string) called {
	t.Helper()
	decisions := "id,class,given,decision\n"
	for _, w := range wrong {
		decisions += strings.Join(w[:], ",") + ",accept\n"
	}
	file := filepath.Join(t.TempDir(), "decisions.csv")
	write(t, file, decisions)
	return succeeds(t, "audit", dir, "--decisions", file, "--output", output, "--top", "0", "--classes", "1")
}

// learns trains on the configuration next to corrected labels.
func learns(t *testing.T, output string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "again")
	must(t, "train", "--config", strings.TrimSuffix(output, filepath.Ext(output))+".yaml", "--run-dir", dir)
	return dir
}

// trainIDs returns the training bags of a run that nets of two folds have scored.
func trainIDs(t *testing.T, dir string) []string {
	t.Helper()
	var ids []string
	for _, r := range readCSV(t, read(t, dir, runaudit.Folder, "folds-2", "labels.csv"))[1:] {
		ids = append(ids, r[0])
	}
	return ids
}

func TestAuditRun_OffersFoldsWithTheirCost(t *testing.T) {
	skipShort(t, "audits runs of every kind of data")
	t.Parallel()
	file := manifestOf(t, 60, "path,labels", func(i int) string {
		return fmt.Sprintf("%d.png,%s", i, colours[(i+i%10/9)%3]) // a tenth is wrong
	})
	dir := audited(t, onPictures("--set", "data.manifest="+file, "--noise-rates", "online")...)
	c := call(t, "audit", dir)
	wantCode(t, c, exitUsage, "has out-of-fold scores of 22 of 54 training pictures",
		"2 folds, each 2 epochs on 27 of 54 pictures, about", "run --noise-rates folds:2\n", "--noise-rates folds:5",
		"--noise-rates online")
	if _, err := os.Stat(filepath.Join(dir, runaudit.Folder)); err == nil {
		t.Error("an offer has made a folder")
	}
	if c := call(t, "audit", dir, "--noise-rates", "online"); c.code != exitOK || strings.Contains(c.err, "54 of 54") {
		t.Errorf("exit code %d: %s", c.code, c.err)
	}
	wantParts(t, succeeds(t, "audit", dir, "--noise-rates", "folds:2", "--fold-epochs", "5", "--min-error",
		"0.01").err, "fold 2 of 2: epoch 1", "54 of 54 training pictures")
	again := call(t, "audit", dir, "--min-error", "0.01")
	if again.code != exitOK || strings.Contains(again.err, "epoch") || !strings.Contains(again.err,
		"54 of 54 training pictures") {
		t.Errorf("a second audit: exit code %d: %s", again.code, again.err)
	}
	if page := read(t, filepath.Join(dir, runaudit.Folder, "audit.html")); !strings.Contains(page, "data:image/jpeg") {
		t.Error("the page has no pictures")
	}
}

func TestAuditRun_RefusesWhatIsNoRunOrDoesNotGoWithOne(t *testing.T) {
	empty := t.TempDir()
	wantFailure(t, call(t, "audit", empty), "there are no pictures in it")
	wantUsage(t, call(t, "audit", "--device", "cpu", "--scores", "s.csv", "--labels", "l.csv"),
		"--device is for nmn audit RUN")
	write(t, filepath.Join(empty, run.ConfigFile), "preset: scenes\n")
	wantUsage(t, call(t, "audit", empty), "has not ended")
	wantUsage(t, call(t, "audit", empty, "--labels", "l.csv"), "--labels is for score files")
	wantUsage(t, call(t, "audit", empty, "--noise-rates", "folds:1"), "2 to 1000 folds")
	wantUsage(t, call(t, "audit", empty, "--fold-epochs", "2"), "--fold-epochs belongs to --noise-rates folds:N")
	wantUsage(t, call(t, "audit", empty, "--set", "train.seed=2"), "--set is for nmn audit DATA")
	wantUsage(t, call(t, "audit", "--run-dir", "x", "--scores", "s.csv", "--labels", "l.csv"), "--run-dir is for "+
		"nmn audit DATA")
	write(t, filepath.Join(empty, run.IndexFile), "")
	expect.OK(t, os.Remove(filepath.Join(empty, run.ConfigFile)))
	wantUsage(t, call(t, "audit", empty), "holds an experiment")
}

// The scores of a run do not fit labels that have changed since.
func TestAuditRun_RefusesOtherLabelsThanThoseLearned(t *testing.T) {
	t.Parallel()
	row := func(i int) string { return fmt.Sprintf("%d.png,%s", i, colours[i%3]) }
	file := manifestOf(t, 30, "path,labels", row)
	dir := audited(t, onPictures("--set", "data.manifest="+file)...)
	output := filepath.Join(t.TempDir(), "fixed.jsonl")
	wantUsage(t, call(t, "audit", dir, "--noise-rates", "folds:2", "--apply", "--output", output), "ends in .csv")
	wantUsage(t, call(t, "audit", dir, "--noise-rates", "folds:2", "--apply", "--output", file),
		"which the run has learned from")
	write(t, file, strings.Replace(read(t, file), "red", "green", 1))
	wantUsage(t, call(t, "audit", dir), "an audit needs the data that the run has learned")
}

// Each form of labels: train, audit, decide, and train on what was written.
func TestAuditRun_WritesLabelsInTheFormOfTheData(t *testing.T) {
	t.Parallel()
	skipShort(t, "audits runs of every kind of data")
	list := func(i int) string { return fmt.Sprintf("%d.png , %s;thing,x%d", i, colours[i%3], i) }
	t.Run("a list in CSV", func(t *testing.T) {
		file := manifestOf(t, 40, "path,labels,note", list)
		id, n, fixed, c := corrected(t, ".csv", ofColour, onPictures("--set", "data.manifest="+file)...)
		want := strings.Replace(read(t, file), list(n), fmt.Sprintf("%s ,thing;%s,x%d", id, colours[(n+1)%3], n), 1)
		if got := read(t, fixed); got != want || got == read(t, file) {
			t.Errorf("%q, want %q", got, want)
		}
		wantParts(t, c.err, "1 changed rows", "nmn train --config "+strings.TrimSuffix(fixed, ".csv")+".yaml")
		// The file is a manifest like the first one, too.
		must(t, append([]string{"train", fixed, "--images", filepath.Dir(file), "--batch-size", "8", "--epochs", "1",
			"--device", "cpu", "--run-dir", filepath.Join(t.TempDir(), "r")}, onPictures()...)...)
	})
	t.Run("columns of 0 and 1", func(t *testing.T) {
		file := manifestOf(t, 40, "path,red,green,blue", func(i int) string {
			cells := []string{"0", "0", "0"}
			cells[i%3] = "1"
			return fmt.Sprintf("%d.png,%s", i, strings.Join(cells, ","))
		})
		id, _, fixed, _ := corrected(t, ".csv", func(n int) [][2]string { return ofColour(n)[:1] },
			severalOf("--set", "data.manifest="+file)...)
		if got := read(t, fixed); !strings.Contains(got, "\n"+id+",0,0,0\n") || strings.Count(got, "0,0,0") != 1 {
			t.Errorf("%q", got)
		}
	})
	t.Run("JSON lines", func(t *testing.T) {
		file := manifestOf(t, 40, "", func(i int) string {
			return fmt.Sprintf(`{"path": "%d.png", "labels": ["%s", "thing"], "x": [%d]}`, i, colours[i%3], i)
		})
		lines := strings.TrimSuffix(file, ".csv") + ".jsonl"
		expect.OK(t, os.Rename(file, lines))
		_, _, fixed, _ := corrected(t, ".jsonl", func(int) [][2]string { return [][2]string{{"thing", "1"}} },
			onPictures("--set", "data.manifest="+lines)...)
		if got := read(t, fixed); strings.Count(got, `, "thing"]`) != 39 || !strings.Contains(got, `"], "x"`) {
			t.Errorf("%q", got)
		}
	})
	t.Run("captions", func(t *testing.T) {
		captions, images, vocabulary := exported(t, "60")
		dir := audited(t, onPictures("--set", "data.captions="+captions, "--images", images, "--vocab", vocabulary)...)
		fixed := filepath.Join(t.TempDir(), "fixed.csv")
		wantOK(t, call(t, "audit", dir, "--noise-rates", "folds:2"), "this audit is about words",
			"nmn audit captions "+captions, "--images "+images)
		id := trainIDs(t, dir)[0]
		labels := strings.Split(read(t, filepath.Join(dir, runaudit.Folder, "folds-2", "labels.csv")), "\n")
		given := strings.Split(labels[1], ",")[1]
		c := decided(t, dir, fixed, [3]string{id, strings.Split(labels[0], ",")[1], given})
		if !strings.Contains(c.err, "a new manifest") || !strings.HasPrefix(read(t, fixed), "path,labels,split,id\n") {
			t.Errorf("%s\n%.300s", c.err, read(t, fixed))
		}
		learns(t, fixed)
	})
}

// featureRows returns vectors that depend on a label, and labels with errors.
func featureRows(n int) (features, labels [][]string) {
	s := rng.New(3)
	for i := range n {
		var z [2]string
		row := []string{fmt.Sprintf("bag%d", i)}
		for c := range z {
			on := s.Float64() < .5
			row = append(row, fmt.Sprintf("%.4f", map[bool]float64{false: -2, true: 2}[on]+s.Normal(0, 1)))
			z[c] = map[bool]string{false: "0", true: "1"}[on != (s.Float64() < .1)]
		}
		features, labels = append(features, row), append(labels, append([]string{row[0]}, z[:]...))
	}
	return features, labels
}

func csvText(header string, rows ...[]string) string {
	text := header + "\n"
	for _, r := range rows {
		text += strings.Join(r, ",") + "\n"
	}
	return text
}

// onlyNoted checks that a table of labels has changed by what the record of changes says.
func onlyNoted(t *testing.T, labels, fixed string) {
	t.Helper()
	changes := strings.Count(read(t, strings.TrimSuffix(fixed, ".csv")+".changes.csv"), "\n") - 1
	was, is := strings.Split(labels, "\n"), strings.Split(read(t, fixed), "\n")
	if len(was) != len(is) {
		t.Fatalf("%d lines, want %d", len(is), len(was))
	}
	differ := 0
	for i := range was {
		for at := range min(len(was[i]), len(is[i])) {
			if was[i][at] != is[i][at] {
				differ++
			}
		}
	}
	if differ != changes || changes == 0 {
		t.Errorf("%d labels differ, %d changes are noted", differ, changes)
	}
}

// A run on features has scores of all its bags: the audit needs no more training.
func TestAuditRun_OfFeatures(t *testing.T) {
	t.Parallel()
	skipShort(t, "audits runs of every kind of data")
	features, labels := featureRows(240)
	small := []string{"--noise-rates", "folds:2", "--set", "recipe.fold_epochs=15", "--set", "recipe.epochs=1",
		"--batch-size", "16", "--set", "net.hidden=[8]", "--learning-rate", "0.03"}
	t.Run("labels in a table", func(t *testing.T) {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "x.csv"), csvText("id,x1,x2", features...))
		write(t, filepath.Join(dir, "l.csv"), csvText("id,cat,dog", labels...))
		folder := audited(t, append(small, "--set", "data.features.train.features="+filepath.Join(dir, "x.csv"), "--labels",
			filepath.Join(dir, "l.csv"))...)
		fixed := filepath.Join(dir, "fixed.csv")
		c := succeeds(t, "audit", folder, "--apply=force", "--precision", "0.5", "--output", fixed)
		wantParts(t, c.err, "from the 2 folds of the run, trained through its noise rates")
		onlyNoted(t, read(t, filepath.Join(dir, "l.csv")), fixed)
		learns(t, fixed)
	})
	t.Run("labels among the features", func(t *testing.T) {
		dir := t.TempDir()
		rows, others, numbered := make([][]string, len(labels)), make([][]string, len(labels)), make([][]string, len(labels))
		inverted := map[string]string{"0": "1", "1": "0"}
		for i := range rows { // without identifiers, rows of both files have the same numbers
			cat, dog := labels[i][1], labels[i][2]
			rows[i] = append(features[i][1:3:3], cat, dog)
			others[i] = append(features[i][1:3:3], inverted[cat], inverted[dog])
			numbered[i] = []string{fmt.Sprint(i + 1), cat, dog}
		}
		write(t, filepath.Join(dir, "x.csv"), csvText("x1,x2,cat,dog", rows...))
		write(t, filepath.Join(dir, "test.csv"), csvText("x1,x2,cat,dog", others...))
		folder := audited(t, append(small, "--set", "data.features.train.features="+filepath.Join(dir, "x.csv"), "--set",
			"data.features.label_columns=[cat, dog]", "--set", "data.features.test.features="+filepath.Join(dir,
				"test.csv"))...)
		fixed := filepath.Join(dir, "fixed.csv")
		must(t, "audit", folder, "--apply=force", "--precision", "0.5", "--output", fixed)
		onlyNoted(t, csvText("id,cat,dog", numbered...), fixed)
		learns(t, fixed)
	})
	t.Run("spellings among the features", func(t *testing.T) {
		dir := t.TempDir()
		rows := make([][]string, len(features))
		for i := range rows {
			cat, dog := labels[i][1], labels[i][2]
			rows[i] = append(features[i][:3:3], cat, map[bool]string{true: dog, false: "0"}[i%2 == 0],
				map[bool]string{true: dog, false: "0"}[i%2 == 1])
		}
		write(t, filepath.Join(dir, "x.csv"), csvText("id,x1,x2,cat,dog,Dog", rows...))
		folder := audited(t, append(small, "--set", "data.features.train.features="+filepath.Join(dir, "x.csv"), "--set",
			"data.features.label_columns=[cat, dog, Dog]", "--set", "data.join_labels=true", "--set",
			"data.features.test.features="+filepath.Join(dir, "x.csv"))...)
		fixed := filepath.Join(dir, "fixed.csv")
		must(t, "audit", folder, "--apply=force", "--precision", "0.5", "--output", fixed)
		again := learns(t, fixed)
		if config := read(t, filepath.Join(again, run.ConfigFile)); !strings.Contains(config,
			"label_columns: [cat, dog, Dog]") {
			t.Errorf("some spellings of held-out labels would be lost:\n%s", config)
		}
	})
	// Files of held-out labels are read as before, although the corrected labels have other columns.
	for name, c := range map[string]struct {
		header, setting string
		cells           func(cat, dog string) []string
	}{
		"columns by a pattern": {"name,label_cat,label_dog,note", "data.features.label_columns=[label_*]",
			func(cat, dog string) []string { return []string{cat, dog, "7"} }},
		"a column of lists": {"name,animals,note", "data.features.list_column=animals",
			func(cat, dog string) []string {
				words := map[string]string{"00": "", "10": "cat", "01": "dog", "11": "cat|dog"}
				return []string{words[cat+dog], "7"}
			}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			rows := make([][]string, len(labels))
			for i, l := range labels {
				rows[i] = append([]string{l[0]}, c.cells(l[1], l[2])...)
			}
			x, l := filepath.Join(dir, "x.csv"), filepath.Join(dir, "l.csv")
			write(t, x, csvText("name,x1,x2", features...))
			write(t, l, csvText(c.header, rows...))
			folder := audited(t, append(small, "--set", "data.features.train.features="+x, "--labels", l, "--set",
				"data.features.test.features="+x, "--set", "data.features.test.labels="+l, "--set",
				"data.features.id_column=name", "--set", c.setting)...)
			fixed := filepath.Join(dir, "fixed.csv")
			must(t, "audit", folder, "--apply=force", "--precision", "0.5", "--output", fixed)
			learns(t, fixed)
		})
	}
	t.Run("an array", func(t *testing.T) {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "x.csv"), csvText("id,x1,x2", features...))
		var elements strings.Builder
		for _, row := range labels {
			for _, z := range row[1:] {
				elements.WriteByte(z[0] - '0')
			}
		}
		header := fmt.Sprintf("{'descr': '|u1', 'fortran_order': False, 'shape': (%d, 2), }", len(labels))
		header += strings.Repeat(" ", 127-10-len(header)) + "\n"
		write(t, filepath.Join(dir, "l.npy"), "\x93NUMPY\x01\x00"+string([]byte{byte(len(header)), 0})+header+
			elements.String())
		folder := audited(t, append(small, "--set", "data.features.train.features="+filepath.Join(dir, "x.csv"), "--labels",
			filepath.Join(dir, "l.npy"))...)
		fixed := filepath.Join(dir, "fixed.csv")
		must(t, "audit", folder, "--apply=force", "--precision", "0.5", "--output", fixed)
		if got := read(t, fixed); !strings.HasPrefix(got, "id,class 1,class 2\nbag0,") || strings.Count(got, "\n") != 241 {
			t.Errorf("%.100s", got)
		}
		learns(t, fixed)
	})
	t.Run("labels of ARFF", func(t *testing.T) {
		dir := t.TempDir()
		text := "@relation x\n@attribute x1 numeric\n@attribute x2 numeric\n@attribute cat {0,1}\n@attribute dog " +
			"{0,1}\n@data\n"
		for i := range features {
			text += strings.Join(append(append([]string{}, features[i][1:]...), labels[i][1:]...), ",") + "\n"
		}
		write(t, filepath.Join(dir, "x.arff"), text)
		write(t, filepath.Join(dir, "l.xml"), `<labels><label name="cat"></label><label name="dog"></label></labels>`)
		folder := audited(t, append(small, "--set", "data.features.train.features="+filepath.Join(dir, "x.arff"), "--labels",
			filepath.Join(dir, "l.xml"))...)
		fixed := filepath.Join(dir, "fixed.csv")
		c := succeeds(t, "audit", folder, "--apply=force", "--precision", "0.5", "--output", fixed)
		wantParts(t, c.err, "a table of 0 and 1")
		again := learns(t, fixed)
		if config := read(t, filepath.Join(again, run.ConfigFile)); !strings.Contains(config,
			"ignore_columns: [cat, dog]") {
			t.Errorf("labels among the features would be learned as features:\n%s", config)
		}
	})
}

// Where a run learns frames of clips one by one, so do the nets of folds, and whole clips are scored.
func TestAuditRun_OfClips(t *testing.T) {
	t.Parallel()
	skipShort(t, "audits runs of every kind of data")
	for name, args := range map[string][]string{"frames": nil, "clips": {"--mil"}} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "run")
			must(t, append(tinyVideo("train", "--arm", "baseline", "--run-dir", dir), args...)...)
			c := succeeds(t, "audit", dir, "--noise-rates", "folds:2", "--fold-epochs", "2", "--min-error", "0.001")
			wantParts(t, c.err, "24 of 24 training clips")
			if ids := trainIDs(t, dir); len(ids) != 24 || strings.Contains(ids[0], "#") {
				t.Errorf("scores are of %q", ids)
			}
			fixed := filepath.Join(t.TempDir(), "fixed.csv")
			decided := call(t, "audit", dir, "--apply=force", "--output", fixed)
			if decided.code != exitOK || !strings.Contains(decided.err, "a table of 0 and 1") ||
				strings.Contains(decided.err, "nmn train --config") {
				t.Errorf("exit code %d: %s", decided.code, decided.err)
			}
		})
	}
}

// An audit that is interrupted goes on within its fold, to the scores of one that is not.
func TestAuditRun_GoesOnAfterAnInterrupt(t *testing.T) {
	skipShort(t, "interrupts runs and trains them again")
	t.Parallel()
	file := manifestOf(t, 60, "path,labels", func(i int) string {
		return fmt.Sprintf("%d.png,%s", i, colours[(i+i%10/9)%3])
	})
	whole := audited(t, onPictures("--set", "data.manifest="+file, "--set", "train.log_steps=1", "--noise-rates",
		"online")...)
	broken := filepath.Join(t.TempDir(), "run")
	expect.OK(t, os.CopyFS(broken, os.DirFS(whole)))
	args := []string{"--noise-rates", "folds:2", "--fold-epochs", "4"}
	must(t, append([]string{"audit", whole}, args...)...)
	second := filepath.Join(broken, runaudit.Folder, "folds-2", "stage1", "fold-2")
	c := interruptAfter(t, second, append([]string{"audit", broken}, args...)...)
	wantParts(t, c.err, "continue with: nmn audit "+broken+" --noise-rates folds:2")
	must(t, append([]string{"audit", broken}, args...)...)
	scores := filepath.Join(runaudit.Folder, "folds-2", "oof.csv")
	if got, want := read(t, filepath.Join(broken, scores)), read(t, filepath.Join(whole, scores)); got != want {
		t.Error("the scores are not those of an audit that was not interrupted")
	}
}

func TestAuditRun_OneAtATime(t *testing.T) {
	t.Parallel()
	file := manifestOf(t, 30, "path,labels", func(i int) string { return fmt.Sprintf("%d.png,%s", i, colours[i%3]) })
	dir := audited(t, onPictures("--set", "data.manifest="+file)...)
	release, err := run.LockFolder(t.Context(), filepath.Join(dir, runaudit.Folder), slog.New(slog.DiscardHandler))
	expect.OK(t, err)
	wantFailure(t, call(t, "audit", dir, "--noise-rates", "folds:2"), "is being written")
	expect.OK(t, release())
	must(t, "audit", dir, "--noise-rates", "folds:2", "--fold-epochs", "1")
}

func TestAuditCompare_CountsWhatIsWrong(t *testing.T) {
	t.Parallel()
	labels := func(wrong int) func(int) string {
		return func(i int) string {
			given := colours[i%3]
			if i < wrong {
				given = colours[(i+1)%3]
			}
			return fmt.Sprintf("%d.png,%s,%s", i, given, colours[i%3])
		}
	}
	file := manifestOf(t, 30, "path,labels,truth", labels(6))
	other := filepath.Join(filepath.Dir(file), "other.csv")
	text := "path,labels,truth\n"
	for i := range 30 {
		text += labels(2)(i) + "\n"
	}
	write(t, other, text)
	share := []string{"--set", "data.test_share=0"}
	before := audited(t, onPictures(append(share, "--set", "data.manifest="+file)...)...)
	after := audited(t, onPictures(append(share, "--set", "data.manifest="+other)...)...)
	var runs []map[string]any
	expect.OK(t, json.Unmarshal([]byte(must(t, "audit", "compare", before, after, "--json")), &runs))
	for i, want := range []map[string]float64{{"incorrect": 6, "missing": 6, "changed": 0, "samples": 30, "labels": 30},
		{"incorrect": 2, "missing": 2, "changed": 8}} {
		for key, v := range want {
			if runs[i][key] != v {
				t.Errorf("run %d: %s is %v, want %v", i, key, runs[i][key], v)
			}
		}
	}
	if table := must(t, "audit", "compare", before, after); !strings.Contains(table, "What the labels have gained") {
		t.Error(table)
	}
	wantUsage(t, call(t, "audit", "compare", before), "type nmn audit compare RUN RUN...")
}
