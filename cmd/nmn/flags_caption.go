package main

import (
	"strings"

	"github.com/spf13/cobra"

	"nmn/loader"
	"nmn/recipe"
	"nmn/run/captioner"
	"nmn/train"
)

// searchFlags declare how captions are looked for.
func searchFlags(r group, s *captioner.Search) {
	r.int(&s.Beam, "beam", "`hypotheses` of a clip that are followed; 1 takes the likeliest word at each step")
	r.float(&s.LengthPenalty, "length-penalty",
		"`power` of the length that log-probabilities are divided by before they are compared; "+
			"0 favours short captions, 1 compares means over words")
	r.int(&s.MaxLength, "max-length", "most `words` of a generated caption")
	r.int(&s.Batch, "generate-batch", "`clips` captioned at a time. Captions do not depend on it")
}

// deviceFlags declare the device of a captioner.
func deviceFlags(cmd *cobra.Command, r group, device *string, threads *int) {
	deviceFlag(cmd, r, device)
	r.int(threads, "threads", "`goroutines` that compute; 0 for one on each processor. Results do not depend on it")
}

// captionerFlags declare all settings of the configuration of a captioner.
func captionerFlags(cmd *cobra.Command, c *captioner.Config) {
	clips := under(cmd, "Clips")
	d := &c.Data
	clipFeatureFlags(clips, &d.Train, "", " to learn from")
	clips.string(&d.Train.Array, "feature-array", "`name` of the array in .npz and .safetensors files of several")
	clipCaptionFlags(clips, &d.Train, "", " that people wrote of them")
	clips.bool(&d.Partial, "partial",
		"leave out clips without captions and captions without clips, instead of refusing them")
	clips.value(choice[recipe.CaptionsForm]{&d.CaptionsRecipe, captionsForms()}, &d.CaptionsRecipe, "captions-recipe",
		"`what` is done with captions: witness leaves out those that are of other clips, as the others of their clip "+
			"tell (docs/captions-audit.md), labels learns all, as the presets paper and moving-scenes do")
	clips.completes("captions-recipe", string(recipe.Witness), string(recipe.Labels))
	clips.int(&d.MaxWords, "max-words",
		"longest caption to learn, in `words`; longer ones are left out; 0 for no limit")
	v := under(cmd, "Validation")
	clipFeatureFlags(v, &d.Validation, "val-", " to judge by (default: a share of the clips)")
	clipCaptionFlags(v, &d.Validation, "val-", " of them (default: --captions)")
	v.float(&d.ValidationShare, "validation-share",
		"`share` of the clips held out to judge by, where no --val-features are given; 0 for none")
	v.uint64(&d.Seed, "validation-seed", "`seed` of which clips are held out")
	searchFlags(v, &c.Validation)
	w := under(cmd, "Words")
	wordFlags(w, &c.Words)
	w.file(&d.Vocabulary, "vocab",
		"`file` of a vocabulary, of nmn caption vocab (default: made of the training captions)", "txt")
	n := under(cmd, "Net")
	n.int(&c.Net.Embedding, "embedding", "`width` that the features of a frame are embedded in")
	n.int(&c.Net.Words, "word-embedding", "`width` of word vectors")
	n.int(&c.Net.Hidden, "hidden", "`cells` of each of the two LSTMs")
	n.float(&c.Net.Dropout, "dropout",
		"`share` of zeros put into embedded frames, words and the output, while training")
	captionTrainingFlags(cmd, c)
	deviceFlags(cmd, under(cmd, "Run"), &c.Device, &c.Threads)
}

func captionTrainingFlags(cmd *cobra.Command, c *captioner.Config) {
	t, r := &c.Train, under(cmd, "Training")
	r.int(&t.Epochs, "epochs", "most `epochs`; 0 for no limit by them")
	r.int(&t.MaxSteps, "max-steps", "most `steps`; 0 for no limit by them")
	r.int(&t.Batch, "batch-size", "`captions` in a step, each with its clip")
	enum(r, &t.Optimizer, "optimizer", "`optimizer`", train.Optimizers()...)
	r.float(&t.LearningRate, "learning-rate",
		"`rate` at the start; the loss is summed over the words of a caption and averaged over captions")
	enum(r, &t.Schedule, "schedule", "`schedule` of the rate", train.Constant, train.StepDown, train.Cosine)
	r.int(&t.WarmupSteps, "warmup-steps", "`steps` of linear rise at the start")
	r.int(&t.StepEvery, "step-every", "schedule step: `steps` between drops of the rate")
	r.float(&t.StepFactor, "step-factor", "schedule step: `factor` of a drop")
	r.float(&t.CosineFloor, "cosine-floor", "schedule cosine: `share` of the rate at the end")
	r.float(&t.Momentum, "momentum", "sgd: `momentum`")
	r.float(&t.Beta1, "beta1", "adam: decay of the first `moment`")
	r.float(&t.Beta2, "beta2", "adam: decay of the second `moment`")
	r.float(&t.Epsilon, "epsilon", "adam: `term` beside the root")
	r.float(&t.WeightDecay, "weight-decay", "`factor` of L2 on weights, not on biases")
	r.float(&t.ClipNorm, "clip-norm", "largest Euclidean `norm` of the gradient; 0 for no limit")
	r.uint64(&t.Seed, "seed", "`seed` of start, order and dropout")
	r.int(&t.ValidateEpochs, "validate-epochs", "`epochs` between validations; 0 for none")
	r.int(&t.Patience, "patience", "end after so many `validations` without a better CIDEr-D; 0 for never")
	r.int(&t.CheckpointSteps, "checkpoint-steps", "`steps` between checkpoints within an epoch; 0 for none")
	r.float(&t.CheckpointMinutes, "checkpoint-minutes",
		"most `minutes` between checkpoints, within an epoch too; 0 for no limit")
	r.int(&t.LogSteps, "log-interval", "`steps` between lines of progress in the log")
}

// featureEndings are those of files of features.
var featureEndings = []string{"npy", "npz", "safetensors", "csv", "parquet"}

// clipFeatureFlags declare what names features; prefix tells those of one split from another.
func clipFeatureFlags(r group, f *captioner.ClipFiles, prefix, of string) {
	r.file(&f.Features, prefix+"features",
		"`file` of features"+of+", as nmn extract writes it: a row for each frame, or for each clip", featureEndings...)
	r.file(&f.Clips, prefix+"clips",
		"`file` of the rows of each clip, as nmn extract --per-frame --output-clips writes it", "csv")
	r.file(&f.IDs, prefix+"ids", "`file` of identifiers where each row is a clip, a line each", "txt")
	r.int(&f.PerRow, prefix+"frames-per-row", "`frames` that a row has behind each other, where each row is a clip")
}

// clipCaptionFlags declare what names captions.
func clipCaptionFlags(r group, f *captioner.ClipFiles, prefix, of string) {
	r.file(&f.Captions, prefix+"captions",
		"`file` of captions"+of+": MSR-VTT's annotations (zip too), COCO captions, "+
			"an object of lists, JSON lines or CSV", "json", "jsonl", "csv", "zip", "gz")
	enum(r, &f.Split, prefix+"split", "MSR-VTT: `clips` whose captions count", loader.TrainSplit,
		loader.ValidationSplit, loader.TestSplit)
}

// needFiles says which of the flags that name clips are missing.
func needFiles(cmd *cobra.Command, flags ...string) error {
	var missing []string
	for _, flag := range flags {
		if f := cmd.Flags().Lookup(flag); f != nil && f.Value.String() == "" {
			missing = append(missing, "--"+flag)
		}
	}
	if len(missing) > 0 {
		return usagef("%s: give %s", commandName(cmd), strings.Join(missing, " and "))
	}
	return nil
}
