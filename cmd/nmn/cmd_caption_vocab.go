package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"nmn/captioner"
	"nmn/loader"
	"nmn/text"
)

// captionVocab are the flags of nmn caption vocab.
type captionVocab struct {
	options captioner.WordOptions
	split   string
	output  string
	asJSON  bool
}

func newCaptionVocab(p *program) *cobra.Command {
	c := captionVocab{options: captioner.WordOptions{MinCount: 1}, split: loader.TrainSplit}
	cmd := &cobra.Command{
		Use:   "vocab CAPTIONS",
		Short: "Make the vocabulary of a captioner",
		Long: `Make the vocabulary of a captioner: the tokens of training captions without punctuation, the
most frequent first. It prints the size of the vocabulary for several minimum counts.`,
		Annotations: details(`Tokens follow the Penn Treebank. nmn caption train makes its own vocabulary unless it gets
one with --vocab, for example to compare captioners that share it.`),
		Example: `  nmn caption vocab train_val_annotation.zip
  nmn caption vocab captions_train2014.json --min-count 5 --output words.txt`,
		Args:              arguments(p, counted(1, 1)),
		ValidArgsFunction: completeFiles("json", "jsonl", "csv", "zip", "gz"),
		RunE:              func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), p, args[0]) },
	}
	r := under(cmd, "Words")
	wordFlags(r, &c.options)
	clipsFlag(r, &c.split)
	out := under(cmd, "Output")
	out.file(&c.output, "output", "write the vocabulary to this `file`", "txt")
	out.bool(&c.asJSON, "json", "print the counts as JSON")
	return cmd
}

// clipsFlag declares --split of a file of captions.
func clipsFlag(r group, split *string) {
	enum(r, split, "split", "use these `clips` of MSR-VTT", loader.TrainSplit, loader.ValidationSplit, loader.TestSplit)
}

// wordFlags declares the flags that limit a vocabulary.
func wordFlags(r group, o *captioner.WordOptions) {
	r.int(&o.MinCount, "min-count", "keep words with this many `occurrences`")
	r.int(&o.Size, "vocab-size", "keep this many most frequent `words`; 0 for all")
}

// countedWords is the JSON output of nmn caption vocab.
type countedWords struct {
	captioner.Counted
	Words       int         `json:"words"`
	Fingerprint string      `json:"fingerprint"`
	AtMinCount  map[int]int `json:"words_at_min_count"`
}

func (c *captionVocab) run(ctx context.Context, p *program, path string) error {
	if c.options.MinCount < 0 || c.options.Size < 0 {
		return usagef("caption vocab: --min-count and --vocab-size are at least 0")
	}
	captions, err := captioner.ReadCaptions(ctx, path, c.split)
	if err != nil {
		return err
	}
	words, counted, err := captioner.BuildWords(captioner.AllTexts(captions), c.options)
	if err != nil {
		return err
	}
	if c.output != "" {
		if err := words.WriteFile(c.output); err != nil {
			return err
		}
	}
	cuts := []int{1, 2, 3, 4, 5, 6, 8, 10, 20, 50, 100}
	told := countedWords{Counted: counted, Words: words.AtLeast(0), Fingerprint: words.Fingerprint(),
		AtMinCount: map[int]int{}}
	for _, cut := range cuts {
		told.AtMinCount[cut] = words.AtLeast(cut)
	}
	if c.asJSON {
		return writeJSON(p.out, told)
	}
	fmt.Fprintf(p.out, "%s: %v\n", text.Count(told.Words, "words"), counted)
	for _, cut := range cuts {
		fmt.Fprintf(p.out, "  at least %3d times: %6d\n", cut, told.AtMinCount[cut])
	}
	return nil
}
