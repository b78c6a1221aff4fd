package experiment

import (
	"fmt"
	"slices"
	"strings"

	"nmn/loader/dataset"
	"nmn/recipe"
	"nmn/report"
	"nmn/run"
	"nmn/text"
	"nmn/train"
)

// Explain says what the rows are and what they were measured on, for a terminal.
func (g *Grid) Explain() string {
	lines := []string{"What the rows are:"}
	rows, remarks := g.explanation()
	for _, row := range rows {
		lines = append(lines, fmt.Sprintf("  %-15s %s", row.Name, row.Meaning))
	}
	for _, remark := range remarks {
		lines = append(lines, report.Wrap(remark))
	}
	return strings.Join(lines, "\n")
}

// explanation says what the rows are, and in paragraphs what else one must know to read them.
func (g *Grid) explanation() (rows []report.Explained, remarks []string) {
	t := &g.Config.Train
	first := epochs(t.Stage1Epochs)
	settings := g.Config.Settings()
	if settings.Folds() > 0 {
		first = "for as long as the loss on labels held out by folds falls"
	}
	for _, a := range recipe.Names() {
		if slices.Contains(g.Arms, a) {
			rows = append(rows, report.Explained{Name: a.Title(false), Meaning: g.meaning(a, first)})
		}
	}
	if g.Config.Data.Embedded() && g.Config.Exclusive() {
		remarks = append(remarks, fmt.Sprintf("Trained on %d pictures with one label each, a share of them replaced by "+
			"other classes. Measured on %d other ones, against their true classes. No arm%s has seen a true label.",
			g.Config.Data.TrainSize, g.Config.Data.TestSize, g.taught()))
	} else if g.Config.Data.Embedded() {
		remarks = append(remarks, fmt.Sprintf("Trained on %d %s whose labels come from captions, a share of them replaced "+
			"by captions of other pictures. Measured on %d other ones: AP (truth), F1 and Brier against what they really "+
			"show, human AP against what people would say. No arm%s has seen a true label.", g.Config.Data.TrainSize,
			g.Config.Data.Bags(), g.Config.Data.TestSize, g.taught()))
	}
	if g.Config.Data.Videos() && (g.Config.Data.VideoLevel == "" || g.Config.Data.VideoLevel == dataset.LevelAuto) {
		remark := "Rows without MIL learn frames, each with the labels of its clip, which is scored by the maximum over " +
			"its frames. Rows with MIL learn a clip as one bag of the cells of all its frames."
		if g.Config.Net.Backbone != "" {
			remark = "Rows without MIL learn the mean of the logits of a clip's frames. Rows with MIL join the frames by " +
				"noisy-or."
		}
		remarks = append(remarks, remark)
	}
	if slices.ContainsFunc(g.Arms, func(a recipe.Name) bool { return a == recipe.FI || a == recipe.FD }) &&
		settings.RatesFile() == "" && !settings.Recipe.Start && len(t.Noise.Q01) == 1 {
		start := fmt.Sprintf("The noise models start at rates of %g (missing) and %g (incorrect)", t.Noise.Q01[0],
			t.Noise.Q10[0])
		if g.Config.Preset == run.ScenesPreset && slices.Equal(t.Noise.Q01, train.ScenesPreset().Noise.Q01) {
			start += ": an informed start, close to the true mean rates at 40 % noise. Other data need a start of their own " +
				"(`train.noise.miss_rate`, `train.noise.false_rate`, `noise_rates`)"
		}
		remarks = append(remarks, g.renamed(start+"."))
	}
	if len(g.Seeds) == 1 {
		remarks = append(remarks,
			g.renamed("One seed: differences of about a point may be chance; `experiment.seeds` 1,2,3 shows more."))
	}
	return rows, remarks
}

// taught names the arms that know true labels or rates.
func (g *Grid) taught() string {
	for _, a := range g.Arms {
		if arm, _ := a.Arm(); arm.Taught {
			return " but those that say so"
		}
	}
	return ""
}

// meaning says what an arm is; first is how long stage 1 is.
func (g *Grid) meaning(a recipe.Name, first string) string {
	arm, _ := a.Arm()
	return strings.NewReplacer("{stage1}", first, "{stage2}", epochs(g.Config.Train.Stage2Epochs)).Replace(arm.Meaning)
}

func epochs(n int) string { return text.Count(n, "epochs") }

// renamed is a text with the names that the program has for settings.
func (g *Grid) renamed(text string) string {
	if g.Rename == nil {
		return text
	}
	return g.Rename(text)
}
