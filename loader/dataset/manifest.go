package dataset

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"

	"nmn/loader"
	"nmn/loader/manifest"
	"nmn/text"
)

// openManifest reads a list of pictures. The splits are those of the file, else those of lists of
// identifiers, else shares. The classes are those of the vocabulary, else the labels of training rows.
func (d *Splits) openManifest(ctx context.Context, c *Config) error {
	m, folder, err := d.readManifest(ctx, c)
	if err != nil {
		return err
	}
	if err := refusePackedManifest(c, m); err != nil {
		return err
	}
	if err := assignSplits(ctx, c, m); err != nil {
		return err
	}
	d.whole = m.IDs()
	vocabulary, err := manifestVocabulary(c, m)
	if err != nil {
		return err
	}
	d.columns = m.Columns.String()
	for i := range m.Rows {
		d.readFolder("data.images", folder, m.Rows[i].Files)
	}
	if err := d.foreignLabels(c, m, vocabulary); err != nil {
		return err
	}
	for _, part := range []struct {
		split string
		to    **loader.Set
	}{{loader.TrainSplit, &d.Train}, {loader.ValidationSplit, &d.Validation}, {loader.TestSplit, &d.Test}} {
		set, source, err := m.Set(part.split, vocabulary, c.CaptionsPerBag, folder)
		if err != nil {
			return err
		}
		if set != nil {
			*part.to = set
			d.alsoClose(source)
		}
	}
	if d.Train == nil {
		return fmt.Errorf("%s: no row is of the split train", c.Manifest)
	}
	if err := labelled(d.Train, c); err != nil {
		return err
	}
	d.options.Log.Info("manifest read", "file", c.Manifest, "rows", len(m.Rows), "labels", len(m.Labels), "columns",
		d.columns)
	return nil
}

// readManifest reads the file and looks for its pictures. Rows whose files are missing are left out up to
// the limit on bad samples.
func (d *Splits) readManifest(ctx context.Context, c *Config) (m *manifest.Manifest, folder string, err error) {
	m, err = manifest.Read(ctx, c.Manifest, manifest.Options{LabelColumns: c.Features.LabelColumns,
		Ignore: c.Features.Ignore})
	if err != nil {
		return nil, "", whereItStarted(err, c.Manifest)
	}
	if folder = c.Images; folder == "" {
		folder = filepath.Dir(c.Manifest)
	}
	missing := 0
	var leftOut func(error)
	if c.MaxBadSamples > 0 {
		leftOut = func(err error) {
			missing++
			d.options.Log.Warn("row is left out", "file", c.Manifest, "reason", err)
		}
	}
	if err := m.FindFiles(ctx, folder, leftOut); err != nil {
		return nil, "", err
	}
	if missing > c.MaxBadSamples {
		return nil, "", fmt.Errorf("%s: %d rows have no file in %s; `data.max_bad_samples` allows %d", c.Manifest,
			missing, folder, c.MaxBadSamples)
	}
	return m, folder, nil
}

// assignSplits holds out validation and test rows, where the file does not say which they are.
func assignSplits(ctx context.Context, c *Config, m *manifest.Manifest) error {
	lists := c.ValidationIDs != "" || c.TestIDs != ""
	switch {
	case m.HasSplits() && lists:
		return fmt.Errorf("%s has splits, and `data.validation_ids` or `data.test_ids` is given: leave out one (`data.features.ignore_columns` split leaves out the column)",
			c.Manifest)
	case m.HasSplits():
		return nil
	}
	var parts Splits
	if err := parts.holdOut(ctx, c, &loader.Set{Name: m.Stem(), IDs: m.IDs()}); err != nil {
		return err
	}
	for split, set := range map[string]*loader.Set{loader.TrainSplit: parts.Train,
		loader.ValidationSplit: parts.Validation, loader.TestSplit: parts.Test} {
		if set != nil {
			m.Assign(split, set.IDs)
		}
	}
	return nil
}

func manifestVocabulary(c *Config, m *manifest.Manifest) (*text.Vocabulary, error) {
	if c.Vocabulary == "" {
		return m.Vocabulary(min(c.VocabularySize, MaxClasses), c.MinCount)
	}
	v, err := text.ReadVocabulary(c.Vocabulary)
	if err == nil && v.Len() > MaxClasses {
		return nil, tooManyClasses(c, v)
	}
	return v, err
}

// foreignLabels refuses labels that a vocabulary of the user does not have. Where the classes come from
// training rows, labels that are only on other rows, or too rare, count for nothing, and that is reported.
func (d *Splits) foreignLabels(c *Config, m *manifest.Manifest, v *text.Vocabulary) error {
	foreign := m.Foreign(v)
	n := len(foreign.Labels)
	switch {
	case n == 0:
		return nil
	case c.Vocabulary != "" && !c.VocabularyOfModel:
		return fmt.Errorf("%s, line %d: the label %q is not in the vocabulary %s (nor are %d other labels; %d rows have such): add it there, or leave out `data.vocabulary`",
			c.Manifest, foreign.Line, foreign.Labels[0], c.Vocabulary, n-1, foreign.Rows)
	}
	told := fmt.Sprintf("%d labels on %d rows are no classes and count for nothing: %s", n, foreign.Rows,
		Abridged(foreign.Labels))
	d.columns += "\n        " + told
	d.options.Log.Warn("labels that are no classes", "file", c.Manifest, "labels", n, "rows", foreign.Rows,
		"first_line", foreign.Line)
	return nil
}

// ReadManifest reads the manifest of a configuration again, for who writes it in its form with other labels; folder is
// that of its pictures.
func ReadManifest(ctx context.Context, c *Config, o Options) (m *manifest.Manifest, folder string, err error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	d := &Splits{options: o, sources: &sources{}}
	return d.readManifest(ctx, c)
}
