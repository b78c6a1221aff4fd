package run_test

import (
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"log"
	"os"
	"path/filepath"

	"nmn/eval"
	"nmn/recipe"
	"nmn/run"
	"nmn/train"
)

// small is a configuration that is trained within a second: a narrow net, few scenes, one epoch of each stage.
func small() run.Config {
	config, err := run.Preset(run.ScenesPreset, run.Quick)
	if err != nil {
		log.Fatal(err)
	}
	config.Data.TrainSize, config.Data.ValidationSize, config.Data.TestSize = 96, 32, 48
	config.Net.Width, config.Train.Stage1Epochs, config.Train.Stage2Epochs = .5, 1, 1
	config.Run.Device = "cpu"
	return config
}

// folder is a new folder for a run.
func folder() string {
	dir, err := os.MkdirTemp("", "nmn-run-")
	if err != nil {
		log.Fatal(err)
	}
	return dir
}

// Train an arm of the paper, NMN-FD, on the built-in scenes, with 40 % of their captions replaced by captions
// of other pictures.
func Example() {
	ctx, dir := context.Background(), folder()
	defer os.RemoveAll(dir)
	config := small() // run.Preset(run.ScenesPreset, run.Quick), made smaller
	config.Arm = recipe.FD
	session, err := run.Open(ctx, config, run.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	outcome, err := session.Train(ctx, dir)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(outcome.Arm.Title(outcome.MIL), "in", outcome.Steps, "steps, measured on", outcome.Evaluation.Bags,
		"pictures of the", outcome.Split, "split")
	// Output: NMN-FD in 3 steps, measured on 48 pictures of the test split
}

// An interrupted run is saved before Train returns, and goes on as if nothing had happened.
func ExampleSession_Train_interrupted() {
	dir := folder()
	defer os.RemoveAll(dir)
	ctx, interrupt := context.WithCancel(context.Background())
	config := small()
	config.Arm = recipe.Stage1
	session, err := run.Open(ctx, config, run.Options{Observer: run.Observer{
		Training: func(t run.Training) []train.Observer {
			return []train.Observer{{Step: func(e train.StepDone) {
				fmt.Printf("%s: step %d\n", t.Title, e.Step)
				interrupt()
			}}}
		},
	}})
	if err != nil {
		log.Fatal(err)
	}
	_, err = session.Train(ctx, dir)
	fmt.Println("interrupted:", errors.Is(err, run.ErrInterrupted))
	if err := session.Close(); err != nil {
		log.Fatal(err)
	}

	ctx = context.Background()
	session, err = run.Open(ctx, config, run.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	outcome, err := session.Train(ctx, dir)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("complete after", outcome.Steps, "steps")
	// Output:
	// stage 1: step 1
	// interrupted: true
	// complete after 3 steps
}

// Ask a trained model for the two most probable words of a picture, for the features of the last map of the net, and
// for its measures on the test split of its run.
func ExampleModel() {
	ctx, dir := context.Background(), folder()
	defer os.RemoveAll(dir)
	trainStage1(ctx, filepath.Join(dir, "run"))
	picture := filepath.Join(dir, "grey.png")
	paint(picture)

	model, err := run.OpenModel(ctx, filepath.Join(dir, "run"), run.ModelOptions{Run: run.Resources{Device: "cpu"}})
	if err != nil {
		log.Fatal(err)
	}
	defer model.Close()
	o := run.DefaultPredictOptions()
	o.Top = 2
	predictions, err := model.Predict(ctx, []string{picture}, o)
	if err != nil {
		log.Fatal(err)
	}
	for path, words := range predictions.All() {
		fmt.Println(filepath.Base(path), "has", len(words), "of", model.Vocabulary().Len(), "words")
	}
	x := run.DefaultExtractOptions()
	x.Outputs = []string{filepath.Join(dir, "x.npy")}
	extracted, err := model.Extract(ctx, []string{picture}, x)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(extracted[0].Rows, "row of", extracted[0].Features, "features of layer", extracted[0].Layer)
	result, err := model.Evaluate(ctx, run.EvaluateOptions{Options: eval.Options{Threshold: .5, TopK: 3}, Split: "test"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("evaluated on", result.Bags, "pictures")
	// Output:
	// grey.png has 2 of 36 words
	// 1 row of 64 features of layer pool5
	// evaluated on 48 pictures
}

// A mistake in a configuration is an error that names the setting as configuration files do.
func ExampleConfigError() {
	config := small()
	config.Run.Device = "abacus"
	_, err := run.Open(context.Background(), config, run.Options{})
	var mistake *run.ConfigError
	fmt.Println(errors.As(err, &mistake), mistake.Key)
	// Output: true run.device
}

// trainStage1 leaves a small model in a folder.
func trainStage1(ctx context.Context, dir string) {
	config := small()
	config.Arm = recipe.Stage1
	session, err := run.Open(ctx, config, run.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	if _, err := session.Train(ctx, dir); err != nil {
		log.Fatal(err)
	}
}

// paint writes a picture.
func paint(path string) {
	file, err := os.Create(path)
	if err != nil {
		log.Fatal(err)
	}
	if err := errors.Join(png.Encode(file, image.NewGray(image.Rect(0, 0, 64, 48))), file.Close()); err != nil {
		log.Fatal(err)
	}
}
