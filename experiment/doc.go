// Package experiment is for programs that compare arms over noise levels and seeds. Each combination is a run in a
// folder of its own, and tables and a page show the results side by side.
//
//	config, err := run.Preset(run.ScenesPreset, run.Quick)
//	if err != nil {
//		return err
//	}
//	grid := experiment.New(config, "runs/experiment")
//	grid.NoiseRates, grid.Seeds = []float64{0, .4}, []uint64{1, 2, 3}
//	if err := grid.Resolve(); err != nil {
//		return err // a *run.ConfigError names the setting that is at fault
//	}
//	session, err := run.Open(ctx, grid.Config, run.Options{})
//	if err != nil {
//		return err
//	}
//	defer session.Close()
//	outcome, err := grid.Run(ctx, session) // what is complete in the folder is not run again
//	if err != nil {
//		return err
//	}
//	return report.Write(os.Stdout, report.Markdown, outcome.Summaries()...)
package experiment
