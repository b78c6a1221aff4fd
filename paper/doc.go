// Package paper reproduces the paper "Learning from Noisy Labels with Noise Modeling Network". One call makes
// its tables and figures and checks its claims, in miniature on scenes and moving scenes, or with the paper's
// own protocol on COCO and MSR-VTT.
//
//	plan, err := paper.New(paper.Settings{Size: paper.Quick, Dir: "reproduction"})
//	if err != nil {
//		return err // a *setting.Error names the wrong setting
//	}
//	_, err = plan.Run(ctx, paper.Options{}) // skips what is complete in the folder
//
// A part is a table or a figure. It trains nothing by itself. It names the runs that it needs, which parts share, and
// how to show them.
package paper
