package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"nmn/loader"
	"nmn/loader/dataset"
	"nmn/run"
	"nmn/text"
)

type vocabCommand struct {
	words  dataset.CaptionWords
	keep   bool
	output string
	asJSON bool
}

func newVocab(p *program) *cobra.Command {
	c := vocabCommand{words: dataset.CaptionWords{VocabularyOptions: text.VocabularyOptions{Size: 1000, MinCount: 1},
		CaptionsPerSample: 5, Split: loader.TrainSplit}}
	cmd := &cobra.Command{
		Use:   "vocab CAPTIONS...",
		Short: "Build a vocabulary from captions",
		Long: `Build a vocabulary from captions of COCO, or of the training clips of MSR-VTT: the most
frequent words with part of speech and count, one on each line.`,
		Annotations: details(`Captions become Penn Treebank tokens. Punctuation is dropped, and so are function words
(determiners, prepositions, pronouns, conjunctions and auxiliary verbs) unless
--keep-function-words is given. Files may be compressed with gzip; annotations of MSR-VTT may
stay in their zip archive.

By default the words of COCO are the 1,000 most frequent words of the first 5 captions of each
picture, and the words of MSR-VTT the 1,087 most frequent words of the first 20 captions of each
clip, as in the paper. The paper's words need --keep-function-words.`),
		Example: `  nmn vocab captions_train2014.json --vocab-size 1000 --output vocabulary.txt
  nmn vocab train_val_annotation.zip --keep-function-words --output msrvtt.txt
  nmn vocab captions.json --exclude background,photo --min-count 5`,
		Args:              arguments(p, counted(1, anyNumber)),
		ValidArgsFunction: completeFiles("json", "gz", "zip"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if c.words.Size < 0 || c.words.MinCount < 0 || c.words.CaptionsPerSample < 0 {
				return usagef("vocab: --vocab-size, --min-count and --captions-per-sample are at least 0")
			}
			c.words.NoFunctionWords = !c.keep
			c.words.PaperSize, c.words.PaperCaptions = !cmd.Flags().Changed("vocab-size"),
				!cmd.Flags().Changed("captions-per-sample")
			v, err := dataset.VocabularyOf(cmd.Context(), p.log, args, c.words)
			if err != nil {
				return err
			}
			return c.write(p, v)
		},
	}
	r := under(cmd, "Words")
	r.int(&c.words.Size, "vocab-size", "keep this many most frequent `words`; 0 for all")
	r.int(&c.words.MinCount, "min-count", "keep words with this many `occurrences`")
	r.bool(&c.keep, "keep-function-words", "keep words such as a, on and of")
	r.strings(&c.words.Exclude, "exclude", "leave out these words, as `word,...`")
	r.int(&c.words.CaptionsPerSample, "captions-per-sample",
		"use the first `captions` of each picture or clip; 0 for all")
	clipsFlag(r, &c.words.Split)
	out := under(cmd, "Output")
	out.file(&c.output, "output", "write the vocabulary to this `file`", "txt")
	out.bool(&c.asJSON, "json", "print JSON")
	return cmd
}

func (c *vocabCommand) write(p *program, v *text.Vocabulary) error {
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
		fmt.Fprintf(p.out, "%s in %s:", text.Count(v.Len(), "words"), c.output)
		for pos, n := range counts {
			fmt.Fprintf(p.out, " %s %d", text.POS(pos), n)
		}
		if _, err := fmt.Fprintln(p.out); err != nil {
			return err
		}
		p.message(run.Message{Topic: "next", Text: "nmn train CAPTIONS --images FOLDER --vocab " + argument(c.output)})
		return nil
	}
	_, err := v.WriteTo(p.out)
	return err
}
