package main

import (
	"context"

	"github.com/spf13/cobra"

	"nmn/captioner"
	"nmn/captioner/metrics"
	"nmn/loader"
	"nmn/report"
)

func newCaption(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "caption",
		Short: "Train captioners, generate captions and score them",
		Long: "Train captioners on features of frames, generate captions of clips, and score the captions of\nany " +
			"program against reference captions.",
		Example: `  nmn caption train --features p.npy --clips clips.csv --captions captions.json
  nmn caption generate runs/captions --features v.npy --clips v.csv --output generated.json
  nmn caption eval --results generated.json --references train_val_annotation.zip --split validate`,
		Args: refuseArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newCaptionTrain(p), newCaptionGenerate(p), newCaptionEval(p))
	return cmd
}

// clipsFlag declares --split of a file of captions.
func clipsFlag(r group, split *string) {
	enum(r, split, "split", "use these `clips` of MSR-VTT", loader.TrainSplit, loader.ValidationSplit, loader.TestSplit)
}

type captionEval struct {
	results, references string
	split               string
	partial             bool
	meteor              string
	output              string
	shown               tablesOutput
}

func newCaptionEval(p *program) *cobra.Command {
	var c captionEval
	cmd := &cobra.Command{
		Use:   "eval --results FILE --references FILE",
		Short: "Score captions against references: BLEU, METEOR, ROUGE-L, CIDEr-D",
		Long: `Score generated captions against reference captions like the COCO evaluation, without Java:
BLEU-1 to 4, METEOR 1.5, ROUGE-L and CIDEr-D.`,
		Annotations: details(`Files may be COCO results or annotations, an object of lists, JSON lines or CSV (id, caption).
METEOR matches words and stems. --meteor-data adds METEOR's own resource files for function
words, WordNet synonyms and paraphrases: english.words, english.prefixes, english.synsets,
english.exceptions and paraphrase-en, plain or .gz. See docs/guide/captions.md.`),
		Example: `  nmn caption eval --results generated.json --references captions_val2014.json --partial
  nmn caption eval --results r.csv --references refs.json --meteor-data meteor/resources`,
		Args: refuseArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.run(cmd.Context(), p) },
	}
	in := under(cmd, "Captions")
	in.file(&c.results, "results", "score the generated captions in this `file`", "json", "jsonl", "csv")
	in.file(&c.references, "references", "compare with the captions in this `file`", "json", "jsonl", "csv", "zip")
	clipsFlag(in, &c.split)
	in.bool(&c.partial, "partial", "ignore references without a generated caption")
	in.directory(&c.meteor, "meteor-data", "read METEOR's resource files from this `folder`")
	out := under(cmd, "Output")
	out.file(&c.output, "output", "write the scores of each caption to this .csv `file`", "csv")
	c.shown.flags(out)
	return cmd
}

func (c *captionEval) run(ctx context.Context, p *program) error {
	if c.results == "" || c.references == "" {
		return usagef("caption eval: give --results and --references")
	}
	items, err := c.items(ctx)
	if err != nil {
		return err
	}
	meteor := metrics.NewMeteor()
	if c.meteor != "" {
		if meteor, err = metrics.LoadMeteor(c.meteor); err != nil {
			return err
		}
	}
	result, err := metrics.Evaluate(ctx, items, meteor)
	if err != nil {
		return err
	}
	write := func(path string) error { return captioner.WriteScores(path, items, result) }
	if err := writeTo(c.output, write); err != nil {
		return err
	}
	summary := struct {
		*metrics.Result
		Captions int    `json:"captions"`
		Modules  string `json:"meteor_modules"`
	}{result, len(items), meteor.Modules()}
	return c.shown.write(p, func() any { return summary }, func() []*report.Table {
		return []*report.Table{report.CaptionTable(result, meteor.Modules())}
	})
}

func (c *captionEval) items(ctx context.Context) ([]metrics.Item, error) {
	results, err := captioner.ReadCaptions(ctx, c.results, "")
	if err != nil {
		return nil, err
	}
	references, err := captioner.ReadCaptions(ctx, c.references, c.split)
	if err != nil {
		return nil, err
	}
	return metrics.Join(results, references, c.partial)
}
