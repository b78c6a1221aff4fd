package experiment_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"nmn/experiment"
	"nmn/recipe"
	"nmn/run"
)

// Two arms at two noise levels, on a few of the embedded scenes. What is complete in the folder is not trained again.
func ExampleGrid() {
	dir, err := os.MkdirTemp("", "grid")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	config, err := run.Preset(run.ScenesPreset, run.Quick)
	if err != nil {
		log.Fatal(err)
	}
	config.Data.TrainSize, config.Data.ValidationSize, config.Data.TestSize = 96, 0, 48
	config.Net.Width, config.Train.Stage1Epochs, config.Train.Stage2Epochs = .5, 1, 1
	grid := experiment.New(config, dir)
	grid.Arms, grid.Chosen = []recipe.Name{recipe.Stage1, recipe.Baseline}, true
	grid.ReplaceCaptions = []float64{.2, .4}
	if err := grid.Resolve(); err != nil {
		log.Fatal(err)
	}

	ctx := context.Background()
	session, err := run.Open(ctx, grid.Config, run.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	outcome, err := grid.Run(ctx, session)
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range outcome.Runs {
		fmt.Printf("%s at %.0f %% noise: AP %t\n", r.Title(), 100*r.Noise, r.Result.Truth.AP.All > 0)
	}
	// Output:
	// stage 1 at 20 % noise: AP true
	// baseline at 20 % noise: AP true
	// stage 1 at 40 % noise: AP true
	// baseline at 40 % noise: AP true
}
