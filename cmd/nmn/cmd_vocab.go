package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"nmn/captioner"
	"nmn/loader"
	"nmn/loader/annotation"
	"nmn/loader/dataset"
	"nmn/run"
	"nmn/text"
)

type vocabCommand struct {
	words     dataset.CaptionWords
	keep      bool
	captioner bool
	counts    string
	counted   string // file of the counted words
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
train makes its own vocabulary unless it gets one with --vocab.

--counts makes features from captions, to try a captioner without clips. The folder gets counts.npy
with the words in the first captions of each clip (10 by default), counts.csv with the clips,
captions.json with the other captions, and words.txt. --vocab takes the words.txt of another split.`),
		Example: `  nmn vocab captions_train2014.json --vocab-size 1000 --output vocabulary.txt
  nmn vocab train_val_annotation.zip --keep-function-words --output msrvtt.txt
  nmn vocab train_val_annotation.zip --captioner --min-count 5 --output words.txt`,
		Args:              arguments(p, counted(1, anyNumber)),
		ValidArgsFunction: completeFiles("json", "jsonl", "csv", "gz", "zip"),
		RunE: func(cmd *cobra.Command, args []string) error {
			given := cmd.Flags().Changed
			c.words.NoFunctionWords = !c.keep
			c.words.PaperSize, c.words.PaperCaptions = !given("vocab-size"), !given("captions-per-sample")
			switch {
			case (c.captioner || c.counts != "") && len(args) > 1:
				return usagef("vocab: a captioner takes one file of captions, not %d", len(args))
			case c.counts != "":
				return c.writeCounts(cmd.Context(), p, args[0])
			case c.captioner:
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
	s.directory(&c.counts, "counts", "write features that count words to this `folder`")
	s.file(&c.counted, "vocab", "count only the words in this `file`", "txt")
	out := under(cmd, "Output")
	out.file(&c.output, "output", "write the vocabulary to this `file`", "txt")
	out.bool(&c.asJSON, "json", "print JSON")
	s.needs("counts", "vocab")
	s.excludes("captioner", "keep-function-words", "exclude", "captions-per-sample", "counts")
	s.excludes("counts", "keep-function-words", "exclude", "output")
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

// options returns which words a captioner takes, and the size unless --vocab-size is given.
func (c *vocabCommand) options(size int) captioner.WordOptions {
	if !c.words.PaperSize {
		size = c.words.Size
	}
	return captioner.WordOptions{MinCount: c.words.MinCount, Size: size}
}

// ofCaptioner makes the vocabulary of a captioner and prints the number of words for minimum counts.
func (c *vocabCommand) ofCaptioner(ctx context.Context, p *program, path string) error {
	captions, err := captioner.ReadCaptions(ctx, path, c.words.Split)
	if err != nil {
		return err
	}
	words, found, err := captioner.BuildWords(captioner.AllTexts(captions), c.options(0))
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

// writeCounts writes features and captions for a captioner to the folder of --counts.
func (c *vocabCommand) writeCounts(ctx context.Context, p *program, path string) error {
	all, err := captioner.ReadCaptions(ctx, path, c.words.Split)
	if err != nil {
		return err
	}
	first := c.words.CaptionsPerSample
	if c.words.PaperCaptions {
		first = annotation.MSRVTTCaptions / 2
	}
	given, rest, left := captioner.FirstCaptions(all, first)
	if first == 0 || len(rest.IDs) == 0 {
		return fmt.Errorf("captions %s: no clip has a caption after its first %d: --captions-per-sample N counts the first N",
			path, first)
	}
	var words *captioner.Words
	if c.counted != "" {
		words, err = captioner.ReadWords(c.counted)
	} else {
		words, _, err = captioner.BuildWords(captioner.AllTexts(given), c.options(dataset.MSRVTTWords))
	}
	if err == nil {
		err = refuseFilled(c.counts)
	}
	if err == nil {
		err = captioner.WriteCounts(c.counts, given, rest, words)
	}
	if err != nil {
		return err
	}
	return p.print(c.asJSON, map[string]any{"folder": c.counts, "clips": len(rest.IDs), "left_out": left,
		"features": words.AtLeast(0)}, "%s: %s, counts of %s; %s with too few captions left out\n", c.counts,
		text.Count(len(rest.IDs), "clips"), text.Count(words.AtLeast(0), "words"), text.Count(left, "clips"))
}
