// Package paper is for readers of the paper "Learning from Noisy Labels with Noise Modeling Network": it makes the
// tables and figures of the paper by one call and checks its claims, in miniature on scenes and moving scenes, or by
// the paper's own protocol where COCO and MSR-VTT are at hand.
//
//	plan, err := reproduce.New(ctx, reproduce.Settings{Size: reproduce.Quick, Dir: "reproduction"})
//	if err != nil {
//		return err // a *setting.Error names the setting that is at fault
//	}
//	_, err = plan.Run(ctx, reproduce.Options{}) // what is complete in the folder is not run again
//
// A part is a table or a figure. It trains nothing by itself: it names the runs that it is made of, which parts share,
// and says how they are shown.
package paper
