package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"nmn/eval/caption"
	"nmn/report"
)

func newCaption(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "caption",
		Short:   "Score captions",
		Long:    "Score captions against those that people wrote.",
		Example: `  nmn caption eval --results generated.json --references captions_val2014.json`,
		Args:    refuseArguments,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newCaptionEval(p))
	return cmd
}

// captionEval are the flags of nmn caption eval.
type captionEval struct {
	results, references string
	meteor              string
	output              string
	format              report.Format
	asJSON              bool
}

func newCaptionEval(p *program) *cobra.Command {
	c := captionEval{format: report.Text}
	cmd := &cobra.Command{
		Use:   "eval --results FILE --references FILE",
		Short: "Score captions against those that people wrote: BLEU, METEOR, ROUGE-L, CIDEr-D",
		Long: `Score generated captions against those that people wrote, as the evaluation of COCO
captions does, without Java: BLEU-1 to 4, METEOR 1.5, ROUGE-L and CIDEr-D. Files may be
COCO results or annotations, an object of lists, JSON lines or CSV (id, caption), of any
program. METEOR matches words and stems by itself; --meteor-data names METEOR's own
resource files for its list of function words, WordNet synonyms and paraphrases.
See docs/captions.md.`,
		Example: `  nmn caption eval --results generated.json --references captions_val2014.json
  nmn caption eval --results r.csv --references refs.json --meteor-data meteor/resources --output scores.csv`,
		Args: refuseArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.run(cmd.Context(), p) },
	}
	in := under(cmd, "Captions")
	in.file(&c.results, "results", "`file` of generated captions, one for each picture or clip", "json", "jsonl", "csv")
	in.file(&c.references, "references", "`file` of the captions that people wrote", "json", "jsonl", "csv")
	in.directory(&c.meteor, "meteor-data", "`folder` of METEOR's resource files (english.words, english.prefixes, english.synsets, english.exceptions, paraphrase-en; plain or .gz)")
	out := under(cmd, "Output")
	out.file(&c.output, "output", "`file` to write the scores of each caption to, .csv", "csv")
	enum(out, &c.format, "format", "`format` of the table", report.Text, report.Markdown, report.CSV, report.JSON)
	out.bool(&c.asJSON, "json", "write everything as one JSON object")
	return cmd
}

func (c *captionEval) run(ctx context.Context, p *program) error {
	if c.results == "" || c.references == "" {
		return usagef("caption eval: give --results and --references")
	}
	items, err := c.items()
	if err != nil {
		return err
	}
	meteor := caption.NewMeteor()
	if c.meteor != "" {
		if meteor, err = caption.LoadMeteor(c.meteor); err != nil {
			return err
		}
	}
	result, err := caption.Evaluate(ctx, items, caption.Options{Meteor: meteor})
	if err != nil {
		return err
	}
	if c.output != "" {
		if err := writeCaptionScores(c.output, items, result); err != nil {
			return err
		}
	}
	if c.asJSON {
		return writeJSON(p.out, struct {
			*caption.Result
			Captions int    `json:"captions"`
			Modules  string `json:"meteor_modules"`
		}{result, len(items), meteor.Modules()})
	}
	return report.Write(p.out, c.format, report.CaptionTable(result, meteor.Modules()))
}

func (c *captionEval) items() ([]caption.Item, error) {
	results, err := readCaptionsToScore(c.results)
	if err != nil {
		return nil, err
	}
	references, err := readCaptionsToScore(c.references)
	if err != nil {
		return nil, err
	}
	return caption.Join(results, references)
}

func readCaptionsToScore(path string) (_ *caption.Captions, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return caption.Read(filepath.Base(path), f)
}

// writeCaptionScores writes a row for each caption.
func writeCaptionScores(path string, items []caption.Item, r *caption.Result) error {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	records := [][]string{{"id", "caption", "bleu_1", "bleu_2", "bleu_3", "bleu_4", "meteor", "rouge_l", "cider_d"}}
	for i, s := range r.Captions {
		record := []string{items[i].ID, items[i].Candidate}
		for _, v := range append(s.BLEU[:], s.METEOR, s.ROUGEL, s.CIDErD) {
			record = append(record, strconv.FormatFloat(v, 'g', 10, 64))
		}
		records = append(records, record)
	}
	if err := w.WriteAll(records); err != nil {
		return fmt.Errorf("scores of captions: %w", err)
	}
	return writeFile(path, b.Bytes())
}
