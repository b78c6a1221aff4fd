package run

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"nmn/internal/durable"
	"nmn/internal/expect"
	"nmn/recipe"
	"nmn/train"
)

// A second process must not touch the folder of a run that is being written: it would delete the file that the first
// is writing aside.
func TestTrain_LeavesAFolderAloneThatIsBeingWritten(t *testing.T) {
	t.Parallel()
	c := tiny(t)
	c.Arm = recipe.Baseline
	s := opened(t, c, Options{})
	for _, written := range []string{"", Stage1Folder} {
		dir := t.TempDir()
		release := expect.Value(s.Ranks.Lock(t.Context(), filepath.Join(dir, written)))(t)
		aside := filepath.Join(dir, written, "."+ConfigFile+"123")
		expect.OK(t, os.WriteFile(aside, nil, 0o666))
		if _, err := s.Train(t.Context(), dir); !errors.Is(err, ErrLocked) {
			t.Errorf("Train while %q is being written: %v", written, err)
		}
		if _, err := os.Stat(aside); err != nil {
			t.Errorf("what another process writes aside in %q: %v", written, err)
		}
		expect.OK(t, release())
		if _, err := s.Train(t.Context(), dir); err != nil {
			t.Errorf("after the other process has ended: %v", err)
		}
		if _, err := os.Stat(filepath.Join(dir, train.LastName)); err != nil {
			t.Error(err)
		}
	}
}

// Where locks are not kept, another process may write stage 1 anew while an arm begins. Then the arm has begun from
// other weights than the finished stage 1 has, and is not taken for complete.
func TestTrainArm_IsNotCompleteIfItBeganFromAnotherStage1(t *testing.T) {
	t.Parallel()
	c := tiny(t)
	c.Train.CheckpointSteps, c.Train.Stage1Epochs = 1, 2
	s := opened(t, c, Options{})
	dir := t.TempDir()
	first := ArmOptions{Arm: recipe.Stage1, Dir: filepath.Join(dir, Stage1Folder)}
	learnArm(t, s, first)
	last := filepath.Join(first.Dir, train.LastName)
	finished := expect.Value(os.ReadFile(last))(t)
	earlier := expect.Value(os.ReadFile(filepath.Join(first.Dir, train.PreviousName)))(t)
	put := func(content []byte) error { return durable.Save(last, content) }
	arm := ArmOptions{Arm: recipe.FD, Dir: filepath.Join(dir, "fd"), From: last, Heading: "begins"}
	s.Observe.Message = func(m Message) {
		if m.Text != arm.Heading {
			return
		}
		expect.OK(t, put(earlier))
	}
	learnArm(t, s, arm)
	expect.OK(t, put(finished))
	s.Observe.Message = nil
	if o, err := s.FinishedArm(t.Context(), arm); err != nil || o != nil {
		t.Errorf("it counts as complete: %+v, %v", o, err)
	}
	if _, _, err := s.TrainArm(t.Context(), arm); !errors.Is(err, train.ErrOtherRun) {
		t.Errorf("to go on ends with %v, want ErrOtherRun", err)
	}
	expect.OK(t, os.RemoveAll(arm.Dir))
	learnArm(t, s, arm)
	if o, err := s.FinishedArm(t.Context(), arm); err != nil || o == nil {
		t.Errorf("trained again, it is not complete: %v", err)
	}
}

// An arm that was planned by folds, scores and rates is not complete if they have changed since.
func TestTrainArm_IsNotCompleteIfItWasPlannedByAnotherRecipe(t *testing.T) {
	t.Parallel()
	c := tiny(t)
	c.Recipe.Form, c.NoiseRates, c.Recipe.FoldEpochs, c.Train.CheckpointSteps = recipe.Estimate, "folds:2", 1, 1
	s := opened(t, c, Options{})
	dir := t.TempDir()
	made := s.Recipe(filepath.Join(dir, RecipeFolder))
	first := ArmOptions{Arm: recipe.Stage1, Dir: filepath.Join(dir, Stage1Folder), Recipe: made}
	arm := ArmOptions{Arm: recipe.HeldRates, Dir: filepath.Join(dir, "held-rates"),
		From: filepath.Join(first.Dir, train.LastName), Recipe: made}
	for _, a := range []ArmOptions{first, arm} {
		learnArm(t, s, a)
		if o, err := s.FinishedArm(t.Context(), a); err != nil || o == nil {
			t.Fatalf("%s is not complete (%v)", a.Arm, err)
		}
	}
	for _, name := range []string{recipe.RatesFile, recipe.NoisyScoresFile} {
		path := filepath.Join(made.Dir, name)
		content := expect.Value(os.ReadFile(path))(t)
		expect.OK(t, durable.Save(path, append(content, '\n')))
		if o, err := s.FinishedArm(t.Context(), arm); err != nil || o != nil {
			t.Errorf("with another %s it counts as complete (%v)", name, err)
		}
		expect.OK(t, durable.Save(path, content))
		if o, err := s.FinishedArm(t.Context(), arm); err != nil || o == nil {
			t.Errorf("with %s as it was, it is not complete (%v)", name, err)
		}
	}
}

func learnArm(t *testing.T, s *Session, a ArmOptions) {
	t.Helper()
	_, _, err := s.TrainArm(t.Context(), a)
	expect.OK(t, err)
}
