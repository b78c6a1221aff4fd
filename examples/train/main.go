// Train learns a classifier from a file of features whose labels are partly missing, resumes after an interruption, and
// predicts the labels of rows. It makes its own file: 1,200 points of a square, each labelled right of its middle,
// above it, or both, and of the labels that hold a third is left out.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"nmn/recipe"
	"nmn/run"
	"nmn/train"
)

func main() {
	dir, err := os.MkdirTemp("", "nmn-train-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := learn(context.Background(), dir, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// learn trains in a folder and prints the result.
func learn(ctx context.Context, dir string, out io.Writer) error {
	points, folder := filepath.Join(dir, "points.csv"), filepath.Join(dir, "run")
	if err := os.WriteFile(points, []byte(table(1200)), 0o666); err != nil {
		return err
	}
	config, err := run.Preset(run.FeaturesPreset, run.Quick)
	if err != nil {
		return err
	}
	config.Data.Features.Train.Features = points
	config.Data.Features.LabelColumns = []string{"right", "above"}
	config.Net.Hidden, config.Run.Device = nil, "cpu" // a linear net
	config.Arm = recipe.HeldRates                     // estimate the noise, then learn through it
	config.Train.LearningRate = .01

	// The first attempt is interrupted when an epoch has ended, as by Ctrl-C; the second goes on.
	interrupted, stop := context.WithCancel(ctx)
	defer stop()
	observer := run.Observer{Training: func(t run.Training) []train.Observer {
		return []train.Observer{{Epoch: func(train.EpochDone) { stop() }}}
	}}
	if _, err := attempt(interrupted, config, observer, folder); !errors.Is(err, run.ErrInterrupted) {
		return fmt.Errorf("not interrupted: %w", err)
	}
	fmt.Fprintln(out, "interrupted after an epoch")
	outcome, err := attempt(ctx, config, run.Observer{}, folder)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s: AP %.2f against the labels of the %s split\n", outcome.Arm, outcome.Evaluation.Labels.AP.All,
		outcome.Split)
	return predict(ctx, folder, filepath.Join(dir, "corners.csv"), out)
}

// attempt trains in a folder, or goes on there.
func attempt(ctx context.Context, config run.Config, observer run.Observer,
	folder string) (outcome *run.Outcome, err error) {
	session, err := run.Open(ctx, config, run.Options{Observer: observer})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	return session.Train(ctx, folder)
}

// predict prints the labels of the corners of the square.
func predict(ctx context.Context, folder, corners string, out io.Writer) error {
	if err := os.WriteFile(corners, []byte("x,y\n-1,-1\n1,-1\n-1,1\n1,1\n"), 0o666); err != nil {
		return err
	}
	model, err := run.OpenModel(ctx, folder, run.ModelOptions{Run: run.Resources{Device: "cpu"}})
	if err != nil {
		return err
	}
	defer model.Close()
	predictions, err := model.Predict(ctx, []string{corners}, run.DefaultPredictOptions())
	if err != nil {
		return err
	}
	for id, words := range predictions.All() {
		names := []string{}
		for _, w := range words {
			names = append(names, w.Word)
		}
		slices.Sort(names) // they come with the most probable first
		fmt.Fprintf(out, "corner %s: %q\n", id, names)
	}
	return nil
}

// table is a CSV file of n points with their labels.
func table(n int) string {
	chance := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	b.WriteString("x,y,right,above\n")
	label := func(v float64) int {
		if v > 0 && chance.Float64() > 1./3 {
			return 1
		}
		return 0
	}
	for range n {
		x, y := 2*chance.Float64()-1, 2*chance.Float64()-1
		fmt.Fprintf(&b, "%.4f,%.4f,%d,%d\n", x, y, label(x), label(y))
	}
	return b.String()
}
