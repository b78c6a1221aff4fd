package main

import (
	"github.com/spf13/cobra"

	"nmn/internal/setting"
	"nmn/recipe"
	"nmn/run"
)

func recipeFlags(cmd *cobra.Command, c *run.Config) {
	r := under(cmd, "Noise model")
	recipeFormFlag(r, &c.Recipe.Form, "nmn-recipe", "`how` stage 2 comes by its noise model: estimate, "+
		"from scores of bags that were not learned and held "+
		"(docs/audit.md), or paper, learned from a start, which presets of papers take, and so does what names "+
		"an arm or a start that does not need an estimate")
	r.string(&c.Rates, "rates", "`source` of the rates: a file with those of each word (word, q01, q10, as in "+
		"q.csv); with --nmn-recipe estimate also "+
		"folds:N (for features) or online, from scores of the first epoch (for pictures)")
	_ = cmd.MarkFlagFilename("rates", "csv")
	r.value(choice[recipe.CaptionsForm]{&c.Recipe.Captions, captionsForms()}, &c.Recipe.Captions, "captions-recipe",
		"estimate: `what` captions are: witness, which finds those that belong to other bags and leaves them out, as "+
			"the arm nmn-c does (docs/captions-audit.md), or labels, where labels come from and nothing more; "+
			"chooses the arm where none is named")
	r.completes("captions-recipe", string(recipe.Witness), string(recipe.Labels))
	r.int(&c.Recipe.FoldEpochs, "fold-epochs", "estimate: `epochs` of the nets of folds, of which the one with the "+
		"least out-of-fold loss counts; 0 for 15")
	r.int(&c.Recipe.Epochs, "recipe-epochs", "estimate: `epochs` of stage 2 of the arms nmn-c, r-n and r-s; 0 for those of "+
		"the least out-of-fold loss, and 3")
	r.bool(&c.Recipe.Floor, "rates-floor", "estimate: raise the rates as far as the labels let them, and learn "+
		"means of belief and score, "+
		"for noise that is suspected to depend on the bag")
}

func captionsForms() []recipe.CaptionsForm {
	return []recipe.CaptionsForm{recipe.Witness, recipe.Labels}
}

// recipeFormFlag declares --nmn-recipe; the form that was called crossfit before is still understood.
func recipeFormFlag(r group, v *recipe.Form, name, usage string) {
	forms := []recipe.Form{recipe.Paper, recipe.Estimate}
	r.value(formFlag{choice[recipe.Form]{v, forms}}, v, name, usage+": "+setting.Alternatives(forms))
	r.completes(name, string(recipe.Paper), string(recipe.Estimate))
}

// formFlag is a choice that knows the old name of a form.
type formFlag struct{ choice[recipe.Form] }

func (f formFlag) Set(s string) error {
	if s == string(recipe.CrossFit) {
		s = string(recipe.Estimate)
	}
	return f.choice.Set(s)
}
