package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"nmn/loader/dataset"
	"nmn/recipe"
	"nmn/train"
)

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
	must(t, os.WriteFile(file, b.Bytes(), 0o666))
	c := value(Preset(FeaturesPreset, Quick))(t)
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
		must(t, os.Remove(filepath.Join(dir, part, DataFile)))
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
	m := value(OpenModel(t.Context(), dir, ModelOptions{Run: Resources{Device: "cpu"}}))(t)
	t.Cleanup(func() { must(t, m.Close()) })
	predicted := func(content string) (*Predictions, error) {
		t.Helper()
		other := filepath.Join(t.TempDir(), "other.csv")
		must(t, os.WriteFile(other, []byte(content), 0o666))
		return m.Predict(t.Context(), []string{other}, DefaultPredictOptions())
	}
	one := value(predicted("id,x,y\na,1,-2\nb,.5,3\n"))(t)
	two := value(predicted("y,id,x\n-2,a,1\n3,b,.5\n"))(t)
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
		m := value(OpenModel(t.Context(), dir, ModelOptions{Run: Resources{Device: "cpu"},
			Log: slog.New(slog.NewTextHandler(&log, nil))}))(t)
		o := DefaultEvaluateOptions()
		o.Split = "train"
		if _, err := m.Evaluate(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(log.String(), file+" has changed since"); got != warns {
			t.Errorf("data of seed %d: the log says %q", seed, log.String())
		}
		must(t, m.Close())
	}
}

// Of a set beyond the bytes that are read, the ends of pictures are noted: a copy has other times, and a run goes on.
func TestPrepareFolder_NotesTheEndsOfLargeSets(t *testing.T) {
	dir, folder := t.TempDir(), filepath.Join(t.TempDir(), "run")
	list := "path,labels\n"
	for i := range 8 {
		name := fmt.Sprintf("%d.png", i)
		list += fmt.Sprintf("%s,%s\n", name, []string{"cat", "dog"}[i%2])
		must(t, os.WriteFile(filepath.Join(dir, name), []byte("picture "+name), 0o666))
	}
	big, file := filepath.Join(dir, "0.png"), filepath.Join(dir, "list.csv")
	must(t, os.WriteFile(file, []byte(list), 0o666))
	must(t, os.Truncate(big, notedBytes+1)) // takes no room
	c, err := Preset(ScenesPreset, Quick)
	must(t, err)
	c.Data.Set, c.Data.Manifest, c.Run.Device, c.Data.Noise = dataset.Manifest, file, "cpu", 0
	same := func() error { return opened(t, c, Options{}).SameData(t.Context(), folder) }
	must(t, opened(t, c, Options{}).PrepareFolder(t.Context(), folder))
	must(t, os.WriteFile(filepath.Join(folder, ResultFile), nil, 0o666))
	now := time.Now().Add(time.Hour)
	must(t, os.Chtimes(big, now, now))
	if err := same(); err != nil {
		t.Errorf("a picture with another time: %v", err)
	}
	f := value(os.OpenFile(big, os.O_WRONLY, 0))(t)
	_, err = f.WriteAt([]byte("x"), notedBytes)
	must(t, errors.Join(err, f.Close()))
	if err := same(); err == nil || !strings.Contains(err.Error(), "0.png has changed since this run began") {
		t.Errorf("a picture with another end: %v", err)
	}
}
