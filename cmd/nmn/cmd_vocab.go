package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"nmn/captioner"
	"nmn/loader"
	"nmn/loader/dataset"
	"nmn/run"
	"nmn/text"
)

type vocabCommand struct {
	words     dataset.CaptionWords
	keep      bool
	captioner bool
	output    string
	asJSON    bool
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
clip, as in the paper. The paper's words need --keep-function-words.

--captioner makes the vocabulary of nmn caption train instead: all tokens of all captions, the
most frequent first. It prints the size of the vocabulary for several minimum counts. nmn caption
train makes its own vocabulary unless it gets one with --vocab.`),
		Example: `  nmn vocab captions_train2014.json --vocab-size 1000 --output vocabulary.txt
  nmn vocab train_val_annotation.zip --keep-function-words --output msrvtt.txt
  nmn vocab train_val_annotation.zip --captioner --min-count 5 --output words.txt`,
		Args:              arguments(p, counted(1, anyNumber)),
		ValidArgsFunction: completeFiles("json", "jsonl", "csv", "gz", "zip"),
		RunE: func(cmd *cobra.Command, args []string) error {
			given := cmd.Flags().Changed
			c.words.NoFunctionWords = !c.keep
			c.words.PaperSize, c.words.PaperCaptions = !given("vocab-size"), !given("captions-per-sample")
			if c.captioner && len(args) > 1 {
				return usagef("vocab: a captioner takes one file of captions, not %d", len(args))
			}
			if c.captioner {
				return c.ofCaptioner(cmd.Context(), p, args[0])
			}
			v, err := dataset.VocabularyOf(cmd.Context(), p.log, args, c.words)
			if err != nil {
				return err
			}
			return c.write(p, v)
		},
	}
	r := under(cmd, "Words")
	r.int(&c.words.Size, "vocab-size", "keep this many most frequent `words`; 0 for all", "[0,]")
	r.int(&c.words.MinCount, "min-count", "keep words with this many `occurrences`", "[0,]")
	r.bool(&c.keep, "keep-function-words", "keep words such as a, on and of")
	r.strings(&c.words.Exclude, "exclude", "leave out these words, as `word,...`")
	r.int(&c.words.CaptionsPerSample, "captions-per-sample",
		"use the first `captions` of each picture or clip; 0 for all", "[0,]")
	clipsFlag(r, &c.words.Split)
	s := under(cmd, "Captioner")
	s.bool(&c.captioner, "captioner", "make the vocabulary of a captioner")
	out := under(cmd, "Output")
	out.file(&c.output, "output", "write the vocabulary to this `file`", "txt")
	out.bool(&c.asJSON, "json", "print JSON")
	s.excludes("captioner", "keep-function-words", "exclude", "captions-per-sample")
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

// ofCaptioner makes the vocabulary of a captioner and prints the number of words for minimum counts.
func (c *vocabCommand) ofCaptioner(ctx context.Context, p *program, path string) error {
	captions, err := captioner.ReadCaptions(ctx, path, c.words.Split)
	if err != nil {
		return err
	}
	o := captioner.WordOptions{MinCount: c.words.MinCount}
	if !c.words.PaperSize {
		o.Size = c.words.Size
	}
	words, found, err := captioner.BuildWords(captioner.AllTexts(captions), o)
	if err == nil && c.output != "" {
		err = words.WriteFile(c.output)
	}
	if err != nil {
		return err
	}
	told := struct {
		captioner.Counted
		Words       int         `json:"words"`
		Fingerprint string      `json:"fingerprint"`
		AtMinCount  map[int]int `json:"words_at_min_count"`
	}{found, words.AtLeast(0), words.Fingerprint(), map[int]int{}}
	lines := fmt.Sprintf("%s: %v\n", text.Count(told.Words, "words"), found)
	for _, cut := range []int{1, 2, 3, 4, 5, 6, 8, 10, 20, 50, 100} {
		told.AtMinCount[cut] = words.AtLeast(cut)
		lines += fmt.Sprintf("  at least %3d times: %6d\n", cut, told.AtMinCount[cut])
	}
	return p.print(c.asJSON, told, "%s", lines)
}
