package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"nmn/format/table"
	"nmn/internal/visible"
	"nmn/loader/dataset"
	"nmn/loader/features"
	"nmn/run"
	"nmn/text"
)

type featuresCommand struct {
	settings settings
	labels   string
	output   string
	table    string
	asJSON   bool
}

func newFeatures(p *program) *cobra.Command {
	c := featuresCommand{settings: settingsOf(&run.Config{})}
	cmd := &cobra.Command{
		Use:   "features FILE",
		Short: "Describe a file of features, and convert it",
		Long: `Describe a file of features: its rows, features, labels and identifiers, and unusable rows.
With --output, convert it to a format that training reads from disk.`,
		Annotations: details(`The description includes the columns, and labels that are on no row or on all rows. --output
writes .npy or .safetensors; training reads such files row by row, at any size. --output-labels
writes a table that --labels takes.

The names of the columns decide which columns are labels, or --set data.features.label_columns
and related settings. nmn extract computes features with a net.`),
		Example: `  nmn features scene-train.arff.gz --labels scene.xml
  nmn features embeddings.parquet --output x.npy --output-labels y.csv`,
		Args:              arguments(p, counted(1, 1)),
		ValidArgsFunction: completeFiles("npy", "npz", "safetensors", "csv", "tsv", "parquet", "arff", "gz"),
		RunE:              func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), p, args[0]) },
	}
	under(cmd, "Features").file(&c.labels, "labels", "read the labels from this `file`", "xml", "npy", "npz",
		"safetensors", "csv", "tsv", "parquet", "arff", "gz")
	setFlags(under(cmd, "Features"), &c.settings)
	out := under(cmd, "Output")
	out.file(&c.output, "output", "write the features to this `file`: .npy or .safetensors", "npy", "safetensors")
	out.output(&c.table, "output-labels", "write identifiers and labels to this .csv `file`", ".csv")
	out.bool(&c.asJSON, "json", "print the description as JSON")
	return cmd
}

func (c *featuresCommand) run(ctx context.Context, p *program, path string) (err error) {
	config := run.DefaultConfig()
	if err := c.settings.apply(&config); err != nil {
		return err
	}
	f := &config.Data.Features
	f.Train.Features = path
	if f.Missing == dataset.MissingMean && c.output != "" {
		return usagef("features: data.features.missing_values=mean is for training; files keep missing values")
	}
	if err := f.Validate(); err != nil {
		return usageError{err}
	}
	o := f.Options(dataset.FeatureFiles{Features: path, Labels: c.labels}, nil)
	o.Spill, o.Weights, o.JoinLabels = c.output, f.Weights, config.Data.JoinLabels
	t, err := features.Open(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	if err := f.CheckWeights(t); err != nil {
		return err
	}
	if c.output != "" && !t.Spilled {
		if err := features.WriteFile(c.output, t.Rows); err != nil {
			return err
		}
	}
	if c.table != "" {
		if err := writeLabelTable(c.table, t); err != nil {
			return err
		}
	}
	d, err := t.Describe()
	if err != nil {
		return err
	}
	return p.print(c.asJSON, d, "%s", describedFeatures(d))
}

// writeLabelTable writes the labels of a file of features.
func writeLabelTable(path string, t *features.Table) error {
	if t.Labels == nil {
		return usagef(
			"features: %s has no labels: give their columns (--set data.features.label_columns=...) or their file (--labels)",
			t.Name)
	}
	k := len(t.Labels.Words)
	return table.WriteFile(path, t.Labels.Words, t.IDs, t.Rows.Len(),
		func(i int) ([]uint8, error) { return t.Labels.Values[i*k : (i+1)*k], nil })
}

// describedFeatures returns the description as text.
func describedFeatures(d *features.Description) string {
	where := "read into memory"
	if d.OnDisk {
		where = "read from disk row by row"
	}
	lines := []string{fmt.Sprintf("%s: %s of %s, %s", d.File, text.Count(d.Rows, "rows"),
		text.Count(d.Features, "features"), where)}
	if d.Columns != nil {
		lines = append(lines, fmt.Sprintf("features     %s: %s", text.Count(len(d.Columns), "columns"),
			dataset.Abridged(d.Columns)))
	}
	if d.Labels != nil {
		lines = append(lines, fmt.Sprintf("labels       %d: %s; %.2f on each row", len(d.Labels),
			dataset.Abridged(d.Labels), d.PerRow))
	} else {
		lines = append(lines, "labels       none found: set data.features.label_columns or --labels FILE")
	}
	if one := dataset.DescribeOneSided(d.Never, d.Always); one != "" {
		lines = append(lines, "             "+one)
	}
	if d.Unusable > 0 {
		lines = append(lines, fmt.Sprintf("unusable     %s; the first: %s", text.Count(d.Unusable, "rows"),
			withFlags(d.First)))
	}
	if d.IDs {
		lines = append(lines, "identifiers  "+d.FirstID+", ...")
	}
	if d.HasSplits {
		lines = append(lines, "splits       in a column")
	}
	if w := d.Weights; w != nil {
		lines = append(lines, fmt.Sprintf("weights      of rows from %g to %g", w[0], w[1]))
	}
	for i := range lines {
		lines[i] = visible.Line(lines[i])
	}
	return strings.Join(lines, "\n") + "\n"
}
