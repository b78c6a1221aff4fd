package runaudit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"nmn/internal/durable"
	"nmn/internal/setting"
	"nmn/labels/audit"
	"nmn/loader"
	"nmn/loader/dataset"
	"nmn/loader/manifest"
	"nmn/loader/relabel"
	"nmn/run"
)

// Corrected is what WriteLabels has written.
type Corrected struct {
	Form   string // of the file, for people
	Rows   int    // that have changed; -1 where all are new
	Note   string // what else there is to know; empty for nothing
	Lost   bool   // the form of the data could not hold the labels, and another one has less in it
	Config string // file of the configuration that learns these labels; empty if no configuration can
}

type labelForm struct {
	name    string
	endings []string // of the file
	note    string
	write   func(ctx context.Context, l relabel.Labels, path string) (rows int, err error)
	learn   func(c *run.Config, path string) // has a configuration learn the file; nil if no configuration can
}

// newManifest is the form for data whose own cannot be written again.
const newManifest = "a new manifest (CSV)"

// CheckLabelFile refuses a file whose name does not end as one for the corrected labels of the run should.
func (a *Audit) CheckLabelFile(ctx context.Context, path string) error {
	form, err := a.formOf(ctx, path)
	if err != nil {
		return err
	}
	ending := func(e string) bool { return strings.HasSuffix(strings.ToLower(path), e) }
	if !slices.ContainsFunc(form.endings, ending) {
		return setting.Errorf("audit.output", "`audit.output` is %q, and the labels of the run are written as %s: want "+
			"a name that ends in %s", path, form.name, setting.Alternatives(form.endings))
	}
	return a.refuseSource(path)
}

// formOf is the form of a file: the form of the data, or, for manifests other than tables, a new manifest if
// the name asks for it.
func (a *Audit) formOf(ctx context.Context, path string) (*labelForm, error) {
	form, err := a.labelForm(ctx)
	if err == nil && a.session.Config.Data.Set == dataset.Manifest && isCSV(path) &&
		!slices.ContainsFunc(form.endings, isCSV) {
		m, err := a.manifest(ctx)
		if err != nil {
			return nil, err
		}
		return a.listedForm(m), nil
	}
	return form, err
}

func isCSV(path string) bool { return ending(path) == ".csv" }

// refuseSource refuses to write over the data of the run, since decisions refer to the labels as they stand there.
func (a *Audit) refuseSource(path string) error {
	d := &a.session.Config.Data
	sources := []string{d.Manifest, d.Captions, d.Features.Train.Features, d.Features.Train.Labels, d.MSRVTT}
	if d.Set == dataset.Clips {
		sources = append(sources, d.LabelFile())
	}
	for _, source := range sources {
		if source != "" && sameFile(source, path) {
			return setting.Errorf("audit.output", "`audit.output` is %s, which the run has learned from: give another "+
				"name", path)
		}
	}
	return nil
}

func sameFile(a, b string) bool {
	x, errA := filepath.Abs(a)
	y, errB := filepath.Abs(b)
	return errA == nil && errB == nil && x == y
}

// WriteLabels writes corrected labels, a row for each bag of the report, as a table of pictures, or of 0 and
// 1. Next to them it writes FILE.yaml, a configuration that learns them as the run did. If the run has injected noise,
// the labels are the noisy ones with the corrections, and the configuration injects none.
func (a *Audit) WriteLabels(ctx context.Context, r *audit.Report, corrected []uint8, path string) (*Corrected, error) {
	rows := map[string][]uint8{}
	for i := range r.Bags {
		row := corrected[i*r.Input.Classes : (i+1)*r.Input.Classes]
		if !slices.Equal(row, r.Labels[i*r.Input.Classes:(i+1)*r.Input.Classes]) {
			rows[r.ID(i)] = row
		}
	}
	return a.writeRows(ctx, rows, path)
}

// writeRows is WriteLabels for the labels of some bags that have changed, by their identifiers.
func (a *Audit) writeRows(ctx context.Context, changed map[string][]uint8, path string) (*Corrected, error) {
	form, err := a.formOf(ctx, path)
	if err != nil {
		return nil, err
	}
	l := relabel.Labels{Words: a.session.Data.Train.Vocabulary.Texts(), Rows: map[string][]uint8{}}
	if a.injected() {
		a.allLabels(&l)
	}
	maps.Copy(l.Rows, changed)
	out := &Corrected{Form: form.name, Note: form.note}
	write := func() (err error) {
		out.Rows, err = form.write(ctx, l, path)
		return err
	}
	err = a.session.Ranks.Save(ctx, write)
	if errors.Is(err, relabel.ErrForm) && a.session.Config.Data.Set == dataset.Manifest {
		why := err
		if !isCSV(path) {
			return nil, setting.Errorf("audit.output", "the labels cannot be written as %s (%v): give `audit.output` a name "+
				"that ends in .csv, for %s", form.name, why, newManifest)
		}
		var m *manifest.Manifest
		if m, err = a.manifest(ctx); err != nil {
			return nil, err
		}
		form = a.listedForm(m)
		out.Form, out.Lost = form.name, true
		out.Note = fmt.Sprintf("its own form cannot hold them (%v)", why)
		if form.note != "" {
			out.Note += ", and " + form.note
		}
		err = a.session.Ranks.Save(ctx, write)
	}
	if err != nil || form.learn == nil {
		return out, err
	}
	plain := strings.TrimSuffix(path, ".gz")
	out.Config = strings.TrimSuffix(plain, filepath.Ext(plain)) + ".yaml"
	return out, a.session.Ranks.Save(ctx, func() error { return a.writeConfig(form, path, out.Config) })
}

// injected reports whether the run has put noise into the labels of the files.
func (a *Audit) injected() bool {
	d := &a.session.Config.Data
	return d.Noise > 0 || d.NoiseFile != "" || d.Flips != "" || d.FlipRates != ""
}

// allLabels takes in the labels of all bags as they are, with the noise that the run has injected.
func (a *Audit) allLabels(l *relabel.Labels) {
	for split, set := range a.sets {
		if split != "test" && !a.ownFile(split) { // the test split gets no noise
			takeLabels(l.Rows, set)
		}
	}
}

// takeLabels takes in the labels of a set, by the identifiers of its bags.
func takeLabels(rows map[string][]uint8, set *loader.Set) {
	if set.Labels == nil {
		return
	}
	k, z := set.Vocabulary.Len(), set.Labels.Uint8s()
	for i, id := range set.IDs {
		rows[id] = z[i*k : (i+1)*k]
	}
}

// writeConfig writes the configuration of the run with other labels.
func (a *Audit) writeConfig(form *labelForm, labelled, path string) error {
	if err := refuseForeignConfig(path); err != nil {
		return err
	}
	c, err := run.ReadConfig(a.Dir)
	if err != nil {
		return err
	}
	d := &c.Data
	d.Noise, d.NoiseFile, d.Flips, d.FlipRates = 0, "", "", ""
	form.learn(c, labelled)
	b := run.ThisBuild()
	c.Build = &b
	text, err := c.YAML()
	if err != nil {
		return err
	}
	return durable.Save(path, append([]byte(configMark(a.Dir, labelled)), text...))
}

// configBegins is how the configurations begin that an audit writes.
const configBegins = "# The configuration of a run, with labels that nmn audit has corrected"

func configMark(dir, labelled string) string {
	return fmt.Sprintf("%s:\n# %q on %q.\n", configBegins, dir, labelled)
}

// pictureRows are the rows of a manifest of all bags of pictures with captions, and the folder that it names them from.
func (a *Audit) pictureRows(l relabel.Labels) (rows []relabel.Row, err error) {
	folder, err := a.pictureFolder()
	if err != nil {
		return nil, err
	}
	for split, set := range a.sets {
		words, z := set.Vocabulary.Texts(), set.Labels.Uint8s()
		for i, id := range set.IDs {
			row := z[i*len(words) : (i+1)*len(words)]
			if other, ok := l.Rows[id]; ok {
				row = other
			}
			file, _ := a.session.Data.PictureFile(id)
			path, err := filepath.Abs(loader.PathIn(file.Folder, file.Name))
			if err == nil {
				path, err = filepath.Rel(folder, path)
			}
			if err != nil {
				return nil, err
			}
			rows = append(rows, relabel.Row{ID: id, Labels: namesOf(row, words), Split: split,
				Files: []string{filepath.ToSlash(path)}})
		}
	}
	return rows, nil
}

// namesOf are the words whose labels are 1.
func namesOf(row []uint8, words []string) (names []string) {
	for c, word := range words {
		if row[c] == 1 {
			names = append(names, word)
		}
	}
	return names
}

// pictureFolder is the folder that all pictures of all bags lie in or below.
func (a *Audit) pictureFolder() (string, error) {
	var files []dataset.PictureFile
	for _, set := range a.sets {
		for _, id := range set.IDs {
			file, ok := a.session.Data.PictureFile(id)
			if !ok {
				return "", fmt.Errorf("it is not known where the picture of %q lies", id)
			}
			if filepath.IsAbs(filepath.FromSlash(file.Name)) {
				file.Folder = filepath.Dir(filepath.FromSlash(file.Name))
			}
			var err error
			if file.Folder, err = filepath.Abs(file.Folder); err != nil { // rows may have paths of both kinds
				return "", err
			}
			files = append(files, file)
		}
	}
	return commonFolder(files), nil
}

// commonFolder is the folder that all pictures lie in or below.
func commonFolder(files []dataset.PictureFile) string {
	folder := ""
	for _, f := range files {
		folder = cmp.Or(folder, filepath.Clean(f.Folder))
		for !within(folder, f.Folder) && filepath.Dir(folder) != folder {
			folder = filepath.Dir(folder)
		}
	}
	return folder
}

func within(folder, path string) bool {
	r, err := filepath.Rel(folder, path)
	return err == nil && (r == "." || filepath.IsLocal(r))
}
