package runaudit

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"nmn/format/npy"
	"nmn/format/table"
	"nmn/internal/durable"
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
	switch {
	case m.Form == manifest.FormCOCO && isFile(m.File):
		form.name, form.endings = "instances of COCO (JSON)", []string{".json"}
		form.write = func(ctx context.Context, l relabel.Labels, path string) (int, error) {
			return relabel.COCO(ctx, m, l, path)
		}
	case m.Form == manifest.FormCOCO, !relabel.HasLines(m):
		return a.listedForm(m), nil
	default:
		form.name = "the same manifest (CSV)"
		if m.JSONLines {
			form.name = "the same manifest (JSON lines)"
		}
		form.endings = []string{ending(m.File)}
		form.write = func(ctx context.Context, l relabel.Labels, path string) (int, error) {
			return relabel.Manifest(ctx, m, l, path)
		}
	}
	for _, e := range slices.Clone(form.endings) {
		if e != ".json" {
			form.endings = append(form.endings, e+".gz")
		}
	}
	return form, nil
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
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
	folder := m.Folder
	split := a.splits()
	return &labelForm{name: newManifest, endings: []string{".csv"},
		write: func(_ context.Context, l relabel.Labels, path string) (int, error) {
			return -1, relabel.NewManifest(relabel.RowsOf(m, l, func(id string) string { return split[id] }), path)
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

// clipForm writes the file of labels of the training clips, with labels by name.
func (a *Audit) clipForm() (*labelForm, error) {
	d := &a.session.Config.Data
	file := d.LabelFile()
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
		rows, err := relabel.Clips(ctx, file, captioned, l, path)
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

// learnNames has a configuration that learned words of captions learn the same classes from labels by name.
func (a *Audit) learnNames(c *run.Config) {
	c.Data.Vocabulary = cmp.Or(c.Data.Vocabulary, filepath.Join(a.Dir, run.VocabularyFile))
	c.Recipe.Captions = ""
	if c.Arm == recipe.CaptionFilter {
		c.Arm, _ = c.RecipeArm()
	}
}

// featureForm writes the file that has the labels of features.
func (a *Audit) featureForm() *labelForm {
	f := &a.session.Config.Data.Features
	file, ids := f.Train.Labels, a.session.Data.OriginalIDs()
	t := relabel.Table{File: file, IDs: ids, IDColumn: f.IDColumn, List: f.ListColumn,
		Join: a.session.Config.Data.JoinLabels}
	switch kind := ending(file); {
	case kind == ".npy" && f.LabelArray == "":
		return &labelForm{name: "an array of the same type", endings: []string{".npy"},
			write: func(ctx context.Context, l relabel.Labels, path string) (int, error) {
				return relabel.Matrix(ctx, file, ids, l, path)
			}, learn: func(c *run.Config, path string) { c.Data.Features.Train.Labels = path }}
	case kind == ".csv", kind == ".tsv", kind == ".jsonl":
		return a.textForm(t, func(c *run.Config, path string) { c.Data.Features.Train.Labels = path })
	case file == "" && f.LabelArray == "" && (ending(f.Train.Features) == ".csv" || ending(f.Train.Features) == ".tsv"):
		t.File = f.Train.Features
		return a.textForm(t, func(c *run.Config, path string) { c.Data.Features.Train.Features = path })
	}
	return a.arrayForm()
}

// arrayForm writes a matrix of bytes for all rows of the features, in their order: what has labels among the features,
// or in a file with other arrays, is left as it is, and its labels are not read.
func (a *Audit) arrayForm() *labelForm {
	return &labelForm{name: "an array of 0 and 1 (.npy)", endings: []string{".npy"},
		note: "labels lay among the features, or in an archive; the words of its columns are in " +
			filepath.Join(a.Dir, run.VocabularyFile),
		write: func(_ context.Context, l relabel.Labels, path string) (int, error) {
			rows, ids := a.allRows(l), a.session.Data.OriginalIDs()
			return -1, durable.Stream(path, 0o644, func(out io.Writer) error {
				header := npy.Uint8Header
				if a.session.Data.Train.HasUnknown() {
					header = npy.Int8Header // whose -1 is the byte of an unknown label
				}
				if _, err := out.Write(header(len(ids), len(l.Words))); err != nil {
					return err
				}
				for _, id := range ids {
					if _, err := out.Write(rows[id]); err != nil {
						return err
					}
				}
				return nil
			})
		},
		learn: func(c *run.Config, path string) {
			f := &c.Data.Features
			if f.Train.Labels == "" && f.LabelArray == "" || ending(f.Train.Labels) == ".xml" { // among the features
				data := a.session.Data
				for _, name := range append(slices.Concat(data.Train.Vocabulary.Texts(), data.Spellings),
					cmp.Or(f.ListColumn, "labels")) {
					f.Ignore = append(f.Ignore, folder.Literal(name))
				}
			}
			f.Train.Labels, f.LabelArray, f.LabelColumns, f.ListColumn = path, "", nil, ""
			c.Data.Vocabulary = cmp.Or(c.Data.Vocabulary, filepath.Join(a.Dir, run.VocabularyFile))
		}}
}

// textForm writes a table with the columns that it has.
func (a *Audit) textForm(t relabel.Table, learn func(*run.Config, string)) *labelForm {
	return &labelForm{name: "the same table", endings: []string{ending(t.File), ending(t.File) + ".gz"},
		write: func(ctx context.Context, l relabel.Labels, path string) (int, error) {
			own := t
			if err := a.findColumns(ctx, &own, l.Words); err != nil {
				return 0, err
			}
			return own.Text(ctx, l, path)
		}, learn: learn}
}

// findColumns finds how a table names its bags and states its labels.
func (a *Audit) findColumns(ctx context.Context, t *relabel.Table, words []string) error {
	columns, err := relabel.Columns(ctx, t.File)
	if err != nil {
		return err
	}
	has := func(name string) bool { return slices.Contains(columns, name) }
	if t.IDColumn == "" && has("id") || t.IDColumn != "" && !has(t.IDColumn) {
		t.IDColumn = ""
		if has("id") {
			t.IDColumn = "id"
		}
	}
	if t.List == "" && has("labels") && !slices.ContainsFunc(words, has) {
		t.List = "labels"
	}
	if t.List != "" && !has(t.List) {
		t.List = ""
	}
	return nil
}

// tableForm writes a matrix of 0 and 1 for all bags, named by a column id.
func (a *Audit) tableForm(note string) *labelForm {
	return &labelForm{name: "a table of 0 and 1 (CSV)", endings: []string{".csv"}, note: note,
		write: func(_ context.Context, l relabel.Labels, path string) (int, error) {
			rows, ids := a.allRows(l), a.session.Data.OriginalIDs()
			return -1, table.WriteFile(path, l.Words, ids, len(ids), func(i int) ([]uint8, error) { return rows[ids[i]], nil })
		}}
}

func (a *Audit) allRows(l relabel.Labels) map[string][]uint8 {
	rows := make(map[string][]uint8, len(a.session.Data.OriginalIDs()))
	for _, set := range a.sets {
		takeLabels(rows, set)
	}
	maps.Copy(rows, l.Rows)
	return rows
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
