package run

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"nmn/eval"
	"nmn/internal/expect"
	"nmn/kernels/tensor"
	"nmn/loader/dataset"
	"nmn/recipe"
	"nmn/report"
	"nmn/train"
)

// Files in a folder that no run has written belong to the user, a configuration too.
func TestTrain_OverwritesNoFileOfOthers(t *testing.T) {
	c := tiny(t)
	s := opened(t, c, Options{})
	text := expect.Value(c.YAML())(t)
	for _, name := range []string{ConfigFile, VocabularyFile, LogFile, report.HTMLFile, train.LastName,
		train.BestName} {
		dir := t.TempDir()
		file := filepath.Join(dir, name)
		content := []byte("mine")
		if name == ConfigFile {
			content = text
		}
		expect.OK(t, os.WriteFile(file, content, 0o666))
		if _, err := s.Train(t.Context(), dir); err == nil || !strings.HasPrefix(err.Error(), file+" would be overwritten") {
			t.Errorf("a folder with a %s of somebody: %v", name, err)
		}
		entries, err := os.ReadDir(dir)
		if there, reading := os.ReadFile(file); err != nil || reading != nil || string(there) != string(content) ||
			len(entries) != 1 {
			t.Errorf("%s holds %q beside %v (%v, %v)", file, there, entries, err, reading)
		}
	}
}

// vectors writes a table of features with two labels, as a seed draws them, and configures a run on it.
func vectors(t *testing.T, file string, seed uint64) Config {
	t.Helper()
	var b bytes.Buffer
	b.WriteString("id,x,y,cat,dog\n")
	labels, values := rand.New(rand.NewPCG(1, 1)), rand.New(rand.NewPCG(seed, 2))
	for i := range 40 {
		fmt.Fprintf(&b, "r%d,%+.3f,%+.3f,%d,%d\n", i, values.NormFloat64(), values.NormFloat64(), labels.IntN(2),
			labels.IntN(2))
	}
	expect.OK(t, os.WriteFile(file, b.Bytes(), 0o666))
	c := expect.Value(Preset(FeaturesPreset, Quick))(t)
	f := &c.Data.Features
	f.Train.Features, f.LabelColumns, f.IDColumn = file, []string{"cat", "dog"}, "id"
	c.Data.Set, c.Recipe.Form, c.Arm, c.Run.Device = "features", recipe.Paper, recipe.Baseline, "cpu"
	c.Train.Stage1Epochs, c.Train.Stage2Epochs = 1, 1
	return c
}

// A result belongs to the features that it was computed from: other features in the same file are refused by
// the file's name, and the first ones are accepted again.
func TestTrain_RefusesFeaturesThatHaveChanged(t *testing.T) {
	file, dir := filepath.Join(t.TempDir(), "x.csv"), filepath.Join(t.TempDir(), "run")
	c := vectors(t, file, 1)
	learn(t, opened(t, c, Options{}), dir)
	vectors(t, file, 2)
	want := file + " has changed since this run began (sha256 "
	for name, work := range map[string]func(*Session) error{
		"the same command": func(s *Session) error { _, err := s.Train(t.Context(), dir); return err },
		"an arm alone": func(s *Session) error {
			_, _, err := s.TrainArm(t.Context(), ArmOptions{Arm: recipe.Stage1, Dir: filepath.Join(dir, Stage1Folder)})
			return err
		},
	} {
		if err := work(opened(t, c, Options{})); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s, on other features: %v, want %s...", name, err, want)
		}
	}
	vectors(t, file, 1)
	var said []Message
	s := opened(t, c, Options{Observer: Observer{Message: func(m Message) { said = append(said, m) }}})
	if _, err := s.Train(t.Context(), dir); err != nil {
		t.Fatalf("the first features again: %v", err)
	}
	if last := said[len(said)-1]; !last.Always || last.Text != dir+
		" is complete; its results are shown, nothing was trained" {
		t.Errorf("a result that is shown again is told by %+v", last)
	}
}

// After a message that results are shown, no error may follow without any results.
func TestTrain_SaysThatResultsAreShownWhereTheyAre(t *testing.T) {
	file, dir := filepath.Join(t.TempDir(), "x.csv"), filepath.Join(t.TempDir(), "run")
	c := vectors(t, file, 1)
	c.Arm = recipe.Stage1
	var said []Message
	o := Options{Observer: Observer{Message: func(m Message) { said = append(said, m) }}}
	learn(t, opened(t, c, o), dir)
	vectors(t, file, 2)
	if _, err := opened(t, c, o).Train(t.Context(), dir); err == nil || slices.Contains(said, Reused(dir)) {
		t.Errorf("on other features, with the error %v, it was said: %v", err, said)
	}
	vectors(t, file, 1)
	if _, err := opened(t, c, o).Train(t.Context(), dir); err != nil || !slices.Contains(said, Reused(dir)) {
		t.Errorf("on the same features, with the error %v, it was said: %v", err, said)
	}
}

// An interrupted run does not go on with other features either, nor do the folds that estimate its rates.
func TestResume_RefusesFeaturesThatHaveChanged(t *testing.T) {
	file, dir := filepath.Join(t.TempDir(), "x.csv"), filepath.Join(t.TempDir(), "run")
	c := vectors(t, file, 1)
	c.Arm, c.Recipe.Form, c.NoiseRates = recipe.HeldRates, recipe.Estimate, "folds:2"
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	s := opened(t, c, Options{Observer: Observer{Training: func(b Training) []train.Observer {
		return []train.Observer{{Epoch: func(train.EpochDone) {
			if strings.HasPrefix(b.Title, "fold 2") {
				interrupt()
			}
		}}}
	}}})
	if _, err := s.Train(ctx, dir); err == nil {
		t.Fatal("the run was not interrupted in its second fold")
	}
	vectors(t, file, 2)
	for _, part := range []string{"", Stage1Folder} { // those that refuse before the recipe does
		expect.OK(t, os.Remove(filepath.Join(dir, part, DataFile)))
	}
	if _, err := opened(t, c, Options{}).Train(t.Context(), dir); err == nil ||
		!strings.Contains(err.Error(), file+" has changed since this run began") {
		t.Errorf("folds of other features: %v", err)
	}
}

// A model of named columns finds them in a file that has them in another order.
func TestModel_PredictsByTheNamesOfColumns(t *testing.T) {
	file, dir := filepath.Join(t.TempDir(), "x.csv"), filepath.Join(t.TempDir(), "run")
	learn(t, opened(t, vectors(t, file, 1), Options{}), dir)
	m := expect.Value(OpenModel(t.Context(), dir, ModelOptions{Run: Resources{Device: "cpu"}}))(t)
	t.Cleanup(func() { expect.OK(t, m.Close()) })
	predicted := func(content string) (*Predictions, error) {
		t.Helper()
		other := filepath.Join(t.TempDir(), "other.csv")
		expect.OK(t, os.WriteFile(other, []byte(content), 0o666))
		return m.Predict(t.Context(), []string{other}, DefaultPredictOptions())
	}
	one := expect.Value(predicted("id,x,y\na,1,-2\nb,.5,3\n"))(t)
	two := expect.Value(predicted("y,id,x\n-2,a,1\n3,b,.5\n"))(t)
	if !slices.Equal(one.Probabilities, two.Probabilities) || len(one.Probabilities) == 0 {
		t.Errorf("probabilities %v, in another order of columns %v", one.Probabilities, two.Probabilities)
	}
	if _, err := predicted("id,z,y\na,1,-2\n"); err == nil || !strings.Contains(err.Error(), `lacks the column "x"`) {
		t.Errorf("another column: %v", err)
	}
}

// A model may later be evaluated on other data than its run's: a message says so.
func TestModel_WarnsOfDataThatHaveChanged(t *testing.T) {
	file, dir := filepath.Join(t.TempDir(), "x.csv"), filepath.Join(t.TempDir(), "run")
	learn(t, opened(t, vectors(t, file, 1), Options{}), dir)
	for seed, warns := range map[uint64]bool{1: false, 2: true} {
		vectors(t, file, seed)
		var log bytes.Buffer
		m := expect.Value(OpenModel(t.Context(), dir, ModelOptions{Run: Resources{Device: "cpu"},
			Log: slog.New(slog.NewTextHandler(&log, nil))}))(t)
		o := DefaultEvaluateOptions()
		o.Split = "train"
		if _, err := m.Evaluate(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(log.String(), file+" has changed since"); got != warns {
			t.Errorf("data of seed %d: the log says %q", seed, log.String())
		}
		expect.OK(t, m.Close())
	}
}

// Of a set beyond the bytes that are read, the ends of pictures are noted: a copy has other times, and a run goes on.
func TestPrepareFolder_NotesTheEndsOfLargeSets(t *testing.T) {
	dir, folder := t.TempDir(), filepath.Join(t.TempDir(), "run")
	list := "path,labels\n"
	for i := range 8 {
		name := fmt.Sprintf("%d.png", i)
		list += fmt.Sprintf("%s,%s\n", name, []string{"cat", "dog"}[i%2])
		expect.OK(t, os.WriteFile(filepath.Join(dir, name), []byte("picture "+name), 0o666))
	}
	big, file := filepath.Join(dir, "0.png"), filepath.Join(dir, "list.csv")
	expect.OK(t, os.WriteFile(file, []byte(list), 0o666))
	expect.OK(t, os.Truncate(big, notedBytes+1)) // takes no room
	c, err := Preset(ScenesPreset, Quick)
	expect.OK(t, err)
	c.Data.Set, c.Data.Manifest, c.Run.Device, c.Data.Noise = dataset.Manifest, file, "cpu", 0
	same := func() error { return opened(t, c, Options{}).SameData(t.Context(), folder) }
	expect.OK(t, opened(t, c, Options{}).PrepareFolder(t.Context(), folder))
	expect.OK(t, os.WriteFile(filepath.Join(folder, ResultFile), nil, 0o666))
	now := time.Now().Add(time.Hour)
	expect.OK(t, os.Chtimes(big, now, now))
	if err := same(); err != nil {
		t.Errorf("a picture with another time: %v", err)
	}
	f := expect.Value(os.OpenFile(big, os.O_WRONLY, 0))(t)
	_, err = f.WriteAt([]byte("x"), notedBytes)
	expect.OK(t, errors.Join(err, f.Close()))
	if err := same(); err == nil || !strings.Contains(err.Error(), "0.png has changed since this run began") {
		t.Errorf("a picture with another end: %v", err)
	}
}

// What an experiment shows of a run is in its result file, and not in the outcome that is printed.
func TestReadShown_IsWhatTheResultFileHolds(t *testing.T) {
	dir := t.TempDir()
	shown := func(want *report.Scored) {
		t.Helper()
		if got, err := ReadShown(dir); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v (%v), want %+v", got, err, want)
		}
	}
	shown(nil)
	want := &report.Scored{Against: "labels", Split: "test",
		Curves: eval.ByGroup[[]eval.CurvePoint]{All: []eval.CurvePoint{{Recall: .5, Precision: 1}}},
		Drawn:  []report.ShownBag{{ID: "a", Labels: []report.ShownLabel{{Word: "cat", P: .75, Kind: report.HitLabel}}}}}
	for _, s := range []*report.Scored{want, nil} {
		o := &Outcome{Arm: "baseline", Steps: 7, shown: s}
		expect.OK(t, o.write(dir))
		shown(s)
		read, err := ReadOutcome(dir)
		expect.OK(t, err)
		told, err := json.Marshal(o)
		if again, reading := json.Marshal(read); err != nil || reading != nil || string(again) != string(told) ||
			strings.Contains(string(told), "shown") {
			t.Errorf("%s is read as %s (%v, %v)", told, again, err, reading)
		}
	}
}

// A finished result belongs to one precision. An interrupted run may go on in another precision, as it may on
// another device.
func TestFingerprint_TellsPrecisionsApart(t *testing.T) {
	ran := DefaultConfig()
	ran.Data.TrainSize, ran.Data.ValidationSize, ran.Data.TestSize = 8, 0, 8
	data := expect.Value(ran.OpenData(t.Context(), dataset.Options{}))(t)
	defer data.Close()
	of := func(precision tensor.Precision, device string) string {
		c := ran
		c.Run.Precision, c.Run.Device = precision, device
		if key, _, _ := FirstChange(&ran, &c); key != "" {
			t.Errorf("%s on %s cannot go on for its %s", precision, device, key)
		}
		return expect.Value(fingerprint(t.Context(), &c, data, ""))(t)
	}
	plain := of(tensor.FP32, "cpu")
	exact := ran
	exact.Run.ConvExact = true
	if id, err := fingerprint(t.Context(), &exact, data, ""); err != nil || id == plain {
		t.Errorf("a result of exact convolutions passes as another one (%v)", err)
	}
	if plain != of(tensor.FP32, "cuda") {
		t.Error("the device changes the identity of a result")
	}
	if of(tensor.FP32, "cuda") == of(tensor.TF32, "cuda") {
		t.Error("a result in tf32 passes as one in fp32")
	}
}

// How often a run is saved by the clock is no part of what it is.
func TestFingerprint_DoesNotDependOnTheMinutesBetweenCheckpoints(t *testing.T) {
	ran := DefaultConfig()
	ran.Data.TrainSize, ran.Data.ValidationSize, ran.Data.TestSize = 8, 0, 8
	data := expect.Value(ran.OpenData(t.Context(), dataset.Options{}))(t)
	defer data.Close()
	often := ran
	often.Train.CheckpointMinutes = .5
	if key, was, is := FirstChange(&ran, &often); key != "" {
		t.Errorf("a run cannot go on for its %s: %s, then %s", key, was, is)
	}
	a := expect.Value(fingerprint(t.Context(), &ran, data, ""))(t)
	if b, err := fingerprint(t.Context(), &often, data, ""); err != nil || a != b {
		t.Errorf("a result of the same run is not found again (%v)", err)
	}
}
