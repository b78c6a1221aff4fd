package main

import (
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"nmn/internal/durable"
	"nmn/report"
	"nmn/run"
	runnoise "nmn/run/noise"
)

type noiseReport struct {
	config     run.Config
	sources    sources
	checkpoint run.Checkpoint
	split      string
	classes    int
	departures int
	output     string
	asJSON     bool
}

func newNoiseReport(p *program) *cobra.Command {
	n := noiseReport{sources: newSources(), checkpoint: run.Last, split: "train", classes: 20, departures: 10}
	cmd := &cobra.Command{
		Use:   "report RUN",
		Short: "Show what the noise model of a run has learnt",
		Long: `Show the noise rates that the noise model of RUN, a run folder or a checkpoint, learned for
each label: how often it is missing (q01) and wrong (q10).`,
		Annotations: details(`A feature-independent model has one rate for all pictures. A feature-dependent model gives each
picture its own rate: the report has mean, spread and quantiles over a split of the data, and
the pictures farthest from the mean. The true rates are included if the run has them (scenes,
flipped labels), and the estimate from scores if the run has a folder recipe, or is next to one
as the arms of nmn experiment are.`),
		Example: `  nmn noise report runs/fd
  nmn noise report runs/fd --split validation --output noise.html
  nmn noise report runs/fi --checkpoint best --json`,
		Args: arguments(p, counted(1, 1)),
		RunE: func(cmd *cobra.Command, args []string) error { return n.run(cmd, p, args[0]) },
	}
	m := under(cmd, "Model")
	checkpointFlag(m, &n.checkpoint)
	enum(m, &n.split, "split", "compute feature-dependent rates on this `split`", "train", "validation", "test")
	out := under(cmd, "Output")
	out.int(&n.classes, "classes", "print the `labels` with the highest rates; 0 for all", "[0,]")
	out.int(&n.departures, "departures", "print this many `pictures` farthest from the mean rate", "[0,1000]")
	out.output(&n.output, "output", "write all labels to this `file`: .html or .md", ".html", ".md")
	out.bool(&n.asJSON, "json", "print everything as one JSON object")
	runSettings(cmd, &n.sources)
	return cmd
}

func (n *noiseReport) run(cmd *cobra.Command, p *program, path string) error {
	file, folder, err := run.FindCheckpoint(path, n.checkpoint)
	if err != nil {
		return err
	}
	if err := n.sources.of().ResolveFolder(folder, &n.config); err != nil {
		return err
	}
	query := runnoise.Query{Config: &n.config, Path: path, File: file, Folder: folder, Split: n.split,
		Departures: n.departures, LeftOut: p.tellLeftOut}
	r, err := query.Answer(cmd.Context(), run.Options{Log: p.log, Observer: run.Observer{Message: p.message}})
	if err != nil {
		return err
	}
	write := r.WritePage
	if strings.EqualFold(filepath.Ext(n.output), ".md") {
		write = r.WriteMarkdown
	}
	err = writeTo(n.output, func(path string) error { return durable.Stream(path, 0o666, write) })
	if err != nil {
		return err
	}
	if n.asJSON {
		return writeJSON(p.out, r)
	}
	return report.Write(p.out, report.Text, r.Tables(n.classes)...)
}
