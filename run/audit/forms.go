package runaudit

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"nmn/format/table"
	"nmn/internal/setting"
	"nmn/loader"
	"nmn/loader/dataset"
	"nmn/loader/manifest"
	"nmn/loader/relabel"
	"nmn/recipe"
	"nmn/run"
	"nmn/run/folder"
)

// labelForm finds how the labels of the run are written.
func (a *Audit) labelForm(ctx context.Context) (*labelForm, error) {
	switch d := &a.session.Config.Data; d.Set {
	case dataset.Manifest:
		return a.manifestForm(ctx)
	case dataset.Captions:
		return a.captionForm(), nil
	case dataset.Features:
		return a.featureForm(), nil
	case dataset.Clips:
		return a.clipForm()
	default:
		return a.tableForm("labels of " + string(d.Set) + " are no file that nmn train could take others from"), nil
	}
}

// ending is the extension of a text file in lower case, without the extension of its compression.
func ending(path string) string {
	return strings.ToLower(filepath.Ext(strings.TrimSuffix(strings.ToLower(path), ".gz")))
}

// manifestForm writes the manifest as it is, except for labels.
func (a *Audit) manifestForm(ctx context.Context) (*labelForm, error) {
	m, err := a.manifest(ctx)
	if err != nil {
		return nil, err
	}
	folder := m.Folder
	form := &labelForm{learn: func(c *run.Config, path string) {
		c.Data.Manifest = path
		if c.Data.Images == "" && filepath.Dir(path) != filepath.Clean(folder) {
			c.Data.Images = folder
		}
	}}
	if !relabel.HasLines(m) {
		return a.listedForm(m), nil
	}
	form.name = "the same manifest (CSV)"
	if m.JSONLines {
		form.name = "the same manifest (JSON lines)"
	}
	form.endings = []string{ending(m.File), ending(m.File) + ".gz"}
	form.write = func(ctx context.Context, l relabel.Labels, path string) (int, error) {
		return relabel.Manifest(ctx, m, l, path)
	}
	return form, nil
}

// manifest reads the manifest of the data, once.
func (a *Audit) manifest(ctx context.Context) (*manifest.Manifest, error) {
	if a.listed != nil {
		return a.listed, nil
	}
	m, err := dataset.ReadManifest(ctx, &a.session.Config.Data, dataset.Options{Log: a.session.Log})
	if err != nil {
		return nil, err
	}
	a.listed = m
	return m, nil
}

// listedForm writes a new manifest of what lists pictures in another way, with the splits of the run.
func (a *Audit) listedForm(m *manifest.Manifest) *labelForm {
	folder, note := m.Folder, ""
	if others := m.Columns.Ignored; len(others) > 0 {
		note = "these columns are not in it: " + strings.Join(others, ", ")
	}
	return &labelForm{name: newManifest, endings: []string{".csv"}, note: note,
		write: func(_ context.Context, l relabel.Labels, path string) (int, error) {
			return -1, relabel.NewManifest(relabel.RowsOf(m, l, a.splits()), path)
		},
		learn: func(c *run.Config, path string) { learnManifest(c, path, folder) }}
}

// learnManifest has a configuration learn a new manifest that gives the split of each row.
func learnManifest(c *run.Config, path, folder string) {
	d, base := &c.Data, run.BaseConfig().Data
	d.Set, d.Manifest, d.Images, d.LabelForm = dataset.Manifest, path, folder, manifest.FormList
	d.Captions, d.ValCaptions, d.ValImages, d.ValidationIDs, d.TestIDs = "", "", "", "", ""
	d.Features.LabelColumns, d.Features.Ignore = base.Features.LabelColumns, base.Features.Ignore
}

// splits returns the split of every bag of the run, by the names that manifests use.
func (a *Audit) splits() map[string]string {
	of := map[string]string{}
	for split, set := range a.sets {
		for _, id := range set.IDs {
			of[id] = split
		}
	}
	return of
}

// captionForm writes a manifest of the pictures: labels come from words of captions, in which they cannot be corrected.
func (a *Audit) captionForm() *labelForm {
	return &labelForm{name: newManifest, endings: []string{".csv"}, note: "labels came from the words of captions",
		write: func(_ context.Context, l relabel.Labels, path string) (int, error) {
			rows, err := a.pictureRows(l)
			if err != nil {
				return 0, err
			}
			return -1, relabel.NewManifest(rows, path)
		},
		learn: func(c *run.Config, path string) {
			folder, _ := a.pictureFolder() // without which the labels could not have been written
			learnManifest(c, path, folder)
			a.learnNames(c)
		}}
}

// clipForm writes the file of labels of the training clips, with labels by name. Captions cannot be corrected: labels
// that came from them are written by name for all clips.
func (a *Audit) clipForm() (*labelForm, error) {
	file := a.session.Config.Data.LabelFile()
	labels, err := loader.OpenClipLabels(file)
	if err != nil {
		return nil, err
	}
	captioned := labels.Captioned()
	if err := labels.Close(); err != nil {
		return nil, err
	}
	form := &labelForm{name: "the same file of labels (JSON lines)", endings: []string{".jsonl"}}
	if captioned {
		form.name, form.note = "a file of labels by name (JSON lines)", "labels came from the words of captions"
	}
	form.write = func(ctx context.Context, l relabel.Labels, path string) (int, error) {
		if captioned {
			l.Rows = a.allRows(l)
		}
		rows, err := writeClips(ctx, l, file, path)
		if captioned {
			rows = -1
		}
		return rows, err
	}
	form.learn = func(c *run.Config, path string) {
		c.Data.ClipLabels = path
		if captioned {
			a.learnNames(c)
		}
	}
	return form, nil
}

// writeClips writes a file of labels of clips again with corrected labels by name, and counts the clips that change.
func writeClips(ctx context.Context, l relabel.Labels, from, to string) (changed int, err error) {
	labels, err := loader.OpenClipLabels(from)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, labels.Close()) }()
	form := labels.Form()
	form.CaptionsPerSample = 0
	err = loader.WriteClipLabels(to, form, func(yield func(loader.ClipLabel, error) bool) {
		for clip, err := range labels.All(ctx) {
			names, other := l.Names(clip.Clip, clip.Labels)
			if clip.Labels, clip.Captions, clip.Counts = names, nil, nil; other {
				changed++
			}
			if !yield(clip, err) {
				return
			}
		}
	})
	return changed, err
}

// learnNames has a configuration that learned words of captions learn the same classes from labels by name.
func (a *Audit) learnNames(c *run.Config) {
	c.Data.Vocabulary = cmp.Or(c.Data.Vocabulary, filepath.Join(a.Dir, run.VocabularyFile))
	c.Recipe.Captions = ""
	if c.Arm == recipe.CaptionFilter {
		c.Arm, _ = c.RecipeArm()
	}
}

// featureForm writes a table of the labels of all rows. Labels among the features are left as they are, and not read.
func (a *Audit) featureForm() *labelForm {
	form := a.tableForm("")
	form.learn = func(c *run.Config, path string) {
		f, words := &c.Data.Features, a.session.Data.Train.Vocabulary.Texts()
		if f.Train.Labels == "" && f.LabelArray == "" || ending(f.Train.Labels) == ".xml" { // among the features
			columns := a.session.Data.LabelColumns
			f.Ignore = append(f.Ignore, literals(columns)...)
			if len(columns) == 1 && !slices.Contains(words, columns[0]) { // it has lists, here and in held-out files
				f.ListColumn = columns[0]
			} else { // which labels of the table are, though such columns are ignored
				f.LabelColumns = literals(columns)
				f.LabelColumns = append(f.LabelColumns, unmatched(f.LabelColumns, words)...)
			}
		} else { // columns of other files of labels stay what they are
			if len(f.LabelColumns) > 0 {
				f.LabelColumns = append(f.LabelColumns, unmatched(f.LabelColumns, words)...)
			}
			if slices.Contains(words, f.ListColumn) {
				f.ListColumn = ""
			}
		}
		f.Train.Labels, f.LabelArray = path, ""
		c.Data.Vocabulary = cmp.Or(c.Data.Vocabulary, filepath.Join(a.Dir, run.VocabularyFile))
	}
	return form
}

// literals are patterns that match names alone.
func literals(names []string) []string {
	patterns := make([]string, len(names))
	for i, name := range names {
		patterns[i] = folder.Literal(name)
	}
	return patterns
}

// unmatched are patterns for the names that match no pattern yet.
func unmatched(patterns, names []string) []string {
	return literals(slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return slices.ContainsFunc(patterns, func(pattern string) bool {
			matches, _ := path.Match(pattern, name) // the data were read with these patterns
			return matches || pattern == name
		})
	}))
}

// tableForm writes a matrix of 0 and 1 for all bags, named by a column id.
func (a *Audit) tableForm(note string) *labelForm {
	return &labelForm{name: "a table of 0 and 1 (CSV)", endings: []string{".csv"}, note: note,
		write: func(_ context.Context, l relabel.Labels, path string) (int, error) {
			rows, ids := a.allRows(l), a.session.Data.OriginalIDs()
			return -1, table.WriteFile(path, l.Words, ids, len(ids), func(i int) ([]uint8, error) { return rows[ids[i]], nil })
		}}
}

// allRows are the labels of all bags of the training files.
func (a *Audit) allRows(l relabel.Labels) map[string][]uint8 {
	rows := make(map[string][]uint8, len(a.session.Data.OriginalIDs()))
	for split, set := range a.sets {
		if !a.ownFile(split) {
			takeLabels(rows, set)
		}
	}
	maps.Copy(rows, l.Rows)
	return rows
}

// ownFile reports whether the rows of a split lie in a file of their own. Its rows often have the identifiers of
// training rows: files without identifiers count from 1.
func (a *Audit) ownFile(split string) bool {
	switch f := &a.session.Config.Data.Features; split {
	case "validation":
		return f.Validation.Features != ""
	case "test":
		return f.Test.Features != ""
	}
	return false
}

// refuseForeignConfig refuses a file that is there and that no audit has written: its name was made, not given.
func refuseForeignConfig(path string) error {
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && !bytes.HasPrefix(content, []byte(configBegins)) {
		err = setting.Errorf("audit.output", "%s would be overwritten, and no audit has written it: give another "+
			"`audit.output`, or move it away", path)
	}
	return err
}

// LabelFileName is a name for the corrected labels of the run, for messages.
func (a *Audit) LabelFileName() string {
	form, err := a.labelForm(context.Background())
	if err != nil {
		return "fixed.csv"
	}
	return "fixed" + form.endings[0]
}
