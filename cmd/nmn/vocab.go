package main

import (
	"context"
	"fmt"
	"iter"

	"github.com/spf13/cobra"

	"nmn/loader"
	"nmn/loader/annotation"
	"nmn/loader/dataset"
	"nmn/text"
)

type vocabFlags struct {
	options    text.VocabularyOptions
	perPicture int
	split      string
	output     string
	asJSON     bool

	sizeGiven, perPictureGiven bool
}

func newVocab(p *program) *cobra.Command {
	c := vocabFlags{options: text.VocabularyOptions{Size: 1000, MinCount: 1}, perPicture: 5, split: loader.TrainSplit}
	cmd := &cobra.Command{
		Use:   "vocab CAPTIONS...",
		Short: "Build a vocabulary from captions",
		Long: `Build a vocabulary from the captions of COCO files, or of the training clips of
MSR-VTT: the most frequent words, with part of speech and number of occurrences, one on
each line, the most frequent first. Captions become Penn Treebank tokens; punctuation is
dropped. Files may be compressed with gzip, and the annotations of MSR-VTT may stay in the
zip archive in which they come.

Unless flags say otherwise, the words of COCO are the 1,000 most frequent ones in the first
5 captions of each picture, and those of MSR-VTT the 1,087 most frequent ones in the first 20
of each clip, as in the paper.`,
		Example: `  nmn vocab captions_train2014.json --vocab-size 1000 --output vocabulary.txt
  nmn vocab train_val_annotation.zip --output msrvtt.txt
  nmn vocab captions.json --exclude a,an,the,of --min-count 5`,
		Args:              arguments(p, cobra.MinimumNArgs(1)),
		ValidArgsFunction: completeFiles("json", "gz", "zip"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c.sizeGiven, c.perPictureGiven = cmd.Flags().Changed("vocab-size"), cmd.Flags().Changed("captions-per-bag")
			v, err := buildVocabulary(cmd.Context(), p, c, args)
			if err != nil {
				return err
			}
			return writeVocabulary(p, c, v)
		},
	}
	r := under(cmd, "Words")
	r.int(&c.options.Size, "vocab-size", "most frequent `words`, 0 for all")
	r.int(&c.options.MinCount, "min-count", "least `occurrences` of a word")
	r.strings(&c.options.Exclude, "exclude", "words that never become classes, as `word,...`")
	r.int(&c.perPicture, "captions-per-bag", "`captions` of each picture or clip that count, the first by their id; 0 for all")
	enum(r, &c.split, "split", "MSR-VTT: `clips` whose captions count", loader.TrainSplit, loader.ValidationSplit, loader.TestSplit)
	out := under(cmd, "Output")
	out.file(&c.output, "output", "`file` to write (default standard output)", "txt")
	out.bool(&c.asJSON, "json", "write JSON")
	return cmd
}

func completeFiles(extensions ...string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return extensions, cobra.ShellCompDirectiveFilterFileExt
	}
}

func buildVocabulary(ctx context.Context, p *program, c vocabFlags, files []string) (*text.Vocabulary, error) {
	if c.options.Size < 0 || c.options.MinCount < 0 || c.perPicture < 0 {
		return nil, usagef("vocab: --vocab-size, --min-count and --captions-per-bag are at least 0")
	}
	var all []iter.Seq[string]
	for _, file := range files {
		captions, err := dataset.ReadCaptionFile(p.log, file)
		if err != nil {
			return nil, err
		}
		all = append(all, c.texts(captions))
		if captions.MSRVTT != nil && !c.sizeGiven {
			c.options.Size = dataset.MSRVTTWords
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return dataset.TaggedVocabulary(c.options, func(yield func(string) bool) {
		for _, captions := range all {
			for caption := range captions {
				if !yield(caption) {
					return
				}
			}
		}
	})
}

// texts are the captions that count.
func (c *vocabFlags) texts(file *annotation.File) iter.Seq[string] {
	switch {
	case file.COCO != nil:
		return file.COCO.Texts(c.perPicture)
	case !c.perPictureGiven:
		return file.MSRVTT.Texts(c.split, annotation.MSRVTTCaptions)
	}
	return file.MSRVTT.Texts(c.split, c.perPicture)
}

func writeVocabulary(p *program, c vocabFlags, v *text.Vocabulary) error {
	if c.output != "" {
		if err := v.WriteFile(c.output); err != nil {
			return err
		}
		p.log.Info("vocabulary written", "file", c.output, "words", v.Len())
	}
	switch {
	case c.asJSON:
		type word struct {
			Word  string `json:"word"`
			POS   string `json:"pos"`
			Count int    `json:"count"`
		}
		words := make([]word, 0, v.Len())
		for _, w := range v.Words() {
			words = append(words, word{w.Text, w.POS.String(), w.Count})
		}
		return writeJSON(p.out, words)
	case c.output != "":
		counts := v.POSCounts()
		fmt.Fprintf(p.out, "%d words in %s:", v.Len(), c.output)
		for pos, n := range counts {
			fmt.Fprintf(p.out, " %s %d", text.POS(pos), n)
		}
		_, err := fmt.Fprintln(p.out)
		return err
	}
	_, err := v.WriteTo(p.out)
	return err
}
