// Package recipe is for adding and changing arms, the ways to train that an experiment compares, and for the recipe
// that estimates how noisy the labels are and trains through the estimate.
//
// There is one table of arms, and flags, help, reports and experiments are made from it:
//
//	for _, arm := range recipe.Arms() {
//		fmt.Println(arm.Name, arm.Title, arm.Meaning)
//	}
//
// A Recipe serves a group of arms with the same noise, seed and setting of MIL. It asks a Trainer, which is package
// run, for nets that have not seen the bags that they score: nets of folds, or stage 1 in its first epoch. From their
// scores it estimates the rates of missing and incorrect labels (package labels/rates). MakePlan says what an arm is
// trained with then: targets, epochs, held noise rates; and a Judge measures the net that comes out.
//
// Package run puts these together, and other programs choose an arm there:
//
//	config, err := run.Preset(run.ScenesPreset, run.Quick)
//	if err != nil {
//		return err
//	}
//	config.Arm = recipe.HeldRates                // learn through estimated rates
//	config.NoiseRates = recipe.FoldsOf + "5"     // from nets of five folds
//	session, err := run.Open(ctx, config, run.Options{})
//	if err != nil {
//		return err
//	}
//	defer session.Close()
//	outcome, err := session.Train(ctx, "runs/scenes")
package recipe
