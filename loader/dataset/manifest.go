package dataset

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"nmn/internal/visible"
	"nmn/loader"
	"nmn/loader/manifest"
	"nmn/text"
)

// ManifestConfig names a list of pictures, or of clips as frames, with labels by name, or a folder of pictures and
// labels. data.images is the folder of the pictures, or of the frames of the clips, empty for the folder of the
// manifest. data.images alone is a folder with a subfolder for each label.
type ManifestConfig struct {
	Manifest      string        `yaml:"manifest,omitempty" help:"<file> or folder of pictures or clips with labels by name (docs/guide/labels.md)"`
	LabelForm     manifest.Form `yaml:"label_form,omitempty" of:"captions manifest" help:"<form> of the labels, or captions for text files with captions; empty detects it"`
	PathColumn    string        `yaml:"path_column,omitempty" help:"<column> of the manifest with the names of pictures; empty detects it"`
	JoinLabels    bool          `yaml:"join_labels,omitempty" of:"features manifest" help:"join labels that differ only in case, blanks, hyphens or underscores"`
	SkipDifficult bool          `yaml:"skip_difficult,omitempty" help:"Pascal VOC: ignore objects that are marked difficult"`

	// ManifestOfClips is set if rows of the manifest have several frames, which is known after reading it.
	ManifestOfClips bool `yaml:"-"`

	// PackedLabels accepts labels that look like lists in one string, for inspecting the data before a run;
	// otherwise they are refused.
	PackedLabels bool `yaml:"-"`
}

// openManifest reads a list of pictures. The splits come from the file, or from lists of identifiers, or are
// shares. The classes come from the vocabulary, or else from the labels of training rows.
func (d *Splits) openManifest(ctx context.Context, c *Config) error {
	vocabulary, err := knownWords(c)
	if err != nil {
		return err
	}
	known := vocabulary != nil
	m, clips, err := d.readManifest(ctx, c, vocabulary)
	if err != nil {
		return err
	}
	if d.LabelsAreNames = namesLabels(c, m); !d.LabelsAreNames {
		alone := !slices.ContainsFunc(m.Rows, func(r manifest.Row) bool { return len(r.Labels) > 1 })
		if err := refusePacked(c, m.Labels, alone, m.Where); err != nil {
			return err
		}
	}
	if err := assignSplits(ctx, c, m); err != nil {
		return err
	}
	d.originalIDs = m.IDs()
	if !known {
		if vocabulary, err = m.Vocabulary(min(c.VocabularySize, MaxClasses), c.MinCount); err != nil {
			return err
		}
		d.noteAlike(vocabulary)
	}
	d.Labels = m.Describe() + "\n        " + m.Columns.String()
	d.readFolder("data.manifest", m.File, m.Sources)
	names := map[string]string{} // clips by the identifiers of their rows
	for i := range m.Rows {
		row := &m.Rows[i]
		if names[row.ID] = row.Files[0]; clips == nil {
			d.readFolder("data.images", m.Folder, row.Files)
		}
	}
	if err := d.foreignLabels(c, m, vocabulary); err != nil {
		return err
	}
	for _, part := range d.parts() {
		set, err := m.Set(part.split, vocabulary, c.CaptionsPerSample, m.Folder)
		if err != nil {
			return err
		}
		if *part.to = set; set == nil || clips == nil {
			continue
		}
		files := make([]string, set.Len())
		for i, id := range set.IDs {
			files[i] = names[id]
		}
		if set.Source, err = clips.Source(files); err != nil {
			return err
		}
	}
	if d.Train == nil {
		return fmt.Errorf("%s: no row belongs to the split train", m.File)
	}
	d.options.Log.Info("manifest read", "file", m.File, "rows", len(m.Rows), "labels", len(m.Labels), "form", m.Form,
		"columns", d.Labels)
	return nil
}

// noteAlike notes classes whose names are nearly equal, and what joins them.
func (d *Splits) noteAlike(v *text.Vocabulary) {
	var names []string
	for _, group := range text.AlikeNames(v.Texts()) {
		names = append(names, visible.Line(strings.Join(group, " and ")))
	}
	if names != nil {
		d.notes = append(d.notes, "nearly equal: "+manifest.FirstOf(names, 3)+
			"; `data.join_labels` true makes one class of each")
	}
}

// namesLabels reports whether labels are certainly names: each stands alone in its field, or the user has set
// how they are given.
func namesLabels(c *Config, m *manifest.Manifest) bool {
	told := c.LabelForm != "" && c.LabelForm != manifest.FormAuto
	return told || c.Vocabulary != "" ||
		!slices.Contains([]manifest.Form{manifest.FormList, manifest.FormColumns, manifest.FormJSON}, m.Form)
}

// readManifest reads the source and looks for its pictures. known are the classes, nil if the labels become
// the classes. Rows with missing files are left out up to the limit on bad samples. If the rows are clips in
// a folder of frames, it opens that folder too; otherwise clips is nil.
func (d *Splits) readManifest(ctx context.Context, c *Config, known *text.Vocabulary) (m *manifest.Manifest,
	clips *loader.ClipTable, err error) {
	path := cmp.Or(c.Manifest, c.Images)
	o := manifest.Options{Form: c.LabelForm, LabelColumns: c.Features.LabelColumns, ListColumn: c.Features.ListColumn,
		PathColumn: c.PathColumn, Ignore: c.Features.Ignore, Images: c.Images,
		LessDifficult: c.SkipDifficult, JoinLabels: c.JoinLabels}
	if known != nil {
		o.Words = known.Texts()
	}
	missing := 0
	var first error
	var leftOut func(error)
	if c.MaxBadSamples > 0 {
		leftOut = func(err error) {
			missing, first = missing+1, cmp.Or(first, err)
			d.options.Log.Warn("row is left out", "file", path, "reason", err)
		}
	}
	if m, clips, err = d.readRows(ctx, path, c.Images, o, leftOut); err != nil {
		return nil, nil, err
	}
	if clips == nil {
		if err := m.FindFiles(ctx, m.Folder, leftOut); err != nil {
			return nil, nil, err
		}
	}
	if missing > c.MaxBadSamples {
		return nil, nil, fmt.Errorf("%s: rows without a usable picture in %s: %d, first %w; `data.max_bad_samples` allows %d",
			m.File, m.Folder, missing, first, c.MaxBadSamples)
	}
	return m, clips, nil
}

// assignSplits holds out validation and test rows if the file does not assign rows to splits.
func assignSplits(ctx context.Context, c *Config, m *manifest.Manifest) error {
	switch {
	case m.HasSplits() && c.lists():
		return fmt.Errorf("%s has splits, and `data.validation_ids` or `data.test_ids` is given: leave out one "+
			"(`data.features.ignore_columns` split leaves out the column)", m.File)
	case m.HasSplits():
		return nil
	}
	var parts Splits
	if err := parts.holdOut(ctx, c, &loader.Set{Name: m.Stem(), IDs: m.IDs()}); err != nil {
		return err
	}
	for _, part := range parts.parts() {
		if set := *part.to; set != nil {
			m.Assign(part.split, set.IDs)
		}
	}
	return nil
}

// foreignLabels refuses labels that the user's vocabulary does not have. If the classes come from training
// rows, labels that occur only on other rows or too rarely are ignored and reported.
func (d *Splits) foreignLabels(c *Config, m *manifest.Manifest, v *text.Vocabulary) error {
	foreign := m.Foreign(v)
	n := len(foreign.Labels)
	switch {
	case n == 0:
		return nil
	case c.Vocabulary != "" && !c.VocabularyOfModel:
		return fmt.Errorf("%s, %s: the label %q is not in the vocabulary %s (nor are %d other labels; %d rows have such): "+
			"add it there, or leave out `data.vocabulary`",
			m.File, foreign.Where, foreign.Labels[0], c.Vocabulary, n-1, foreign.Rows)
	}
	left := fmt.Sprintf("%s on %s", text.Count(n, "labels"), text.Count(foreign.Rows, "rows"))
	d.Labels += fmt.Sprintf("\n        not among the classes, left out: %s (%s)", left, Abridged(foreign.Labels))
	d.options.Log.Warn("labels", "file", m.File, "not among the classes, left out", left+", first on "+foreign.Where)
	return nil
}

// ReadManifest reads the manifest of a configuration again, to write it with other labels. The result holds
// the folder of its pictures.
func ReadManifest(ctx context.Context, c *Config, o Options) (m *manifest.Manifest, err error) {
	d := newSplits(o)
	defer func() { err = errors.Join(err, d.Close()) }()
	known, err := knownWords(c)
	if err != nil {
		return nil, err
	}
	m, _, err = d.readManifest(ctx, c, known)
	return m, err
}

// refusePacked refuses labels that look like lists in one string each, unless the user has named the classes
// or wants to inspect the labels as they are. where returns the location of the first list.
func refusePacked(c *Config, labels []string, alone bool, where func(label string) string) error {
	if c.Vocabulary != "" || c.PackedLabels {
		return nil
	}
	p, found := loader.FindPacked(labels, alone)
	if !found {
		return nil
	}
	return fmt.Errorf("%s: the label %s: %s; %s", where(p.Example), p, p.Cure(), p.Names())
}
