package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"nmn/captioner"
	"nmn/loader"
	"nmn/loader/dataset"
	"nmn/text"
)

// captionCounts are the flags of nmn caption counts.
type captionCounts struct {
	split  string
	given  int
	words  captioner.WordOptions
	vocab  string
	asJSON bool
}

func newCaptionCounts(p *program) *cobra.Command {
	c := captionCounts{split: loader.TrainSplit, given: 10,
		words: captioner.WordOptions{MinCount: 1, Size: dataset.MSRVTTWords}}
	cmd := &cobra.Command{
		Use:   "counts CAPTIONS DIR",
		Short: "Make features from captions, to try a captioner without clips",
		Long: `Make features and captions from a file of captions, to try a captioner without clips.
The features count the words of the first captions; the captioner learns the other captions.`,
		Annotations: details(`counts.npy has a row of counts for each clip, counts.csv the clips, captions.json the other
captions, and words.txt the counted words. --vocab takes the words.txt of another split.`),
		Example: `  nmn caption counts train_val_annotation.zip text/train
  nmn caption counts train_val_annotation.zip text/val --split validate --vocab text/train/words.txt
  nmn caption train --features text/train/counts.npy --clips text/train/counts.csv \
    --captions text/train/captions.json`,
		Args:              arguments(p, counted(2, 2)),
		ValidArgsFunction: completeFiles("json", "jsonl", "csv", "zip", "gz"),
		RunE:              func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), p, args[0], args[1]) },
	}
	r := under(cmd, "Captions")
	clipsFlag(r, &c.split)
	r.int(&c.given, "given",
		"count the words of this many first `captions` of each clip")
	w := under(cmd, "Words")
	wordFlags(w, &c.words)
	w.file(&c.vocab, "vocab", "count only the words in this `file`", "txt")
	under(cmd, "Output").bool(&c.asJSON, "json", "print JSON")
	return cmd
}

func (c *captionCounts) run(ctx context.Context, p *program, path, dir string) error {
	if c.given < 1 || c.words.MinCount < 0 || c.words.Size < 0 {
		return usagef("caption counts: --given is at least 1, --min-count and --vocab-size at least 0")
	}
	all, err := captioner.ReadCaptions(ctx, path, c.split)
	if err != nil {
		return err
	}
	given, rest, left := captioner.FirstCaptions(all, c.given)
	if len(rest.IDs) == 0 {
		return fmt.Errorf("captions %s: no clip has more than %d captions: lower --given", path, c.given)
	}
	var words *captioner.Words
	if c.vocab != "" {
		words, err = captioner.ReadWords(c.vocab)
	} else {
		words, _, err = captioner.BuildWords(captioner.AllTexts(given), c.words)
	}
	if err != nil {
		return err
	}
	if err := refuseFilled(dir); err != nil {
		return err
	}
	if err := captioner.WriteCounts(dir, given, rest, words); err != nil {
		return err
	}
	return p.print(c.asJSON, map[string]any{"folder": dir, "clips": len(rest.IDs), "left_out": left,
		"features": words.AtLeast(0)},
		"%s: %s, counts of %s; %s with too few captions left out\n",
		dir, text.Count(len(rest.IDs), "clips"), text.Count(words.AtLeast(0), "words"), text.Count(left, "clips"))
}
