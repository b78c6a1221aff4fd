// Package run is for programs that train a net, or use a trained one: it leads from a configuration to a finished run,
// and from there to predictions. It does what nmn train, eval, predict and extract do, for other programs:
//
//	config, err := run.Preset(run.FeaturesPreset, run.Quick) // or of scenes, captions, videos: run.Presets()
//	if err != nil {
//		return err
//	}
//	config.Data.Features.Train.Features = "birds.csv"
//	config.Data.Features.LabelColumns = []string{"sings", "swims"}
//	session, err := run.Open(ctx, config, run.Options{Log: slog.Default()})
//	if err != nil {
//		return err // a *run.ConfigError names the setting that is at fault
//	}
//	defer session.Close()
//	outcome, err := session.Train(ctx, "runs/birds") // goes on after an interruption
//	if err != nil {
//		return err
//	}
//	fmt.Println("mean AP", outcome.Evaluation.Labels.AP.All)
//	model, err := session.OpenModel("runs/birds", run.Last) // elsewhere, without the data: run.OpenModel
//	if err != nil {
//		return err
//	}
//	defer model.Close()
//	predictions, err := model.Predict(ctx, []string{"new.csv"}, run.DefaultPredictOptions())
//
// # Configuration
//
// A Config is completed and checked by Open. What the caller leaves empty, above all the arm and the recipe, is chosen
// as nmn train chooses it. Sources makes one from a preset, a YAML file and single settings, as the command does.
//
// # Run folder
//
// A run is a folder with its configuration, records that grow with training, checkpoints, the result and a page to look
// at. It is made once: to train in the folder of a complete run reads the result, and the folder of another run is
// refused. A run that was interrupted goes on with the results of one that was not, to the last bit.
//
// # Observing
//
// What people may want to know comes as a Message, and the steps of each training as events of package train: see
// Observer. Logs go to a *slog.Logger. Nothing is written to standard output or standard error.
package run
