// Package table4 runs the last experiment of the paper: captioners on the concept probabilities of nets that were
// trained with and without a noise model. Its tables have the layout of the paper's Table 4.
package table4

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"nmn/captioner/metrics"
	"nmn/captioner/session"
	"nmn/experiment"
	"nmn/internal/setting"
	"nmn/loader/annotation"
	"nmn/loader/scenes"
	"nmn/recipe"
	"nmn/report"
	"nmn/run"
)

// Experiment is the table with everything that it needs: nets on moving scenes, the concept probabilities of
// every frame by each net, and a captioner on each of these. What is complete in its folder is not run again.
type Experiment struct {
	Nets      run.Config     // of the nets, on moving scenes; the device is that of the captioners
	Captioner session.Config // of the captioners, with the data of the experiment
	PerClip   int            // captions of a clip of the moving scenes
	// Videos are nets on the frames of MSR-VTT at one level of noise. Their concepts replace the concepts of
	// moving scenes. Runs with MIL that are not complete are trained. It is nil for other clips.
	Videos *experiment.Grid
	Seeds  []uint64        // of noise, nets and captioners
	Dir    string          // folder of everything
	Meteor *metrics.Meteor // nil for one without resources

	Log        *slog.Logger // nil for nowhere
	Observe    run.Observer // of the nets
	Captioning session.Observer
	// Extracted is called with the number of frames of a split that have concept probabilities. It may be nil.
	Extracted func(done, of int)

	rows []report.CaptionRow
}

// Arms are the nets of the paper's table.
func Arms() []recipe.Name { return []recipe.Name{recipe.Baseline, recipe.FI, recipe.FD} }

// New is the experiment on moving scenes in a folder, with two seeds.
func New(dir string) *Experiment {
	e := &Experiment{PerClip: annotation.MSRVTTCaptions, Seeds: []uint64{1, 2}, Dir: dir, Nets: run.BaseConfig()}
	e.Captioner, _ = session.FromPreset(session.MovingScenes) // it is there
	n := &e.Nets
	n.Preset, n.Size, n.Recipe.Form = run.MovingScenesPreset, run.Quick, recipe.Paper
	n.MovingScenes(run.Quick)
	n.Data.TrainSize, n.Data.ValidationSize, n.Data.TestSize = 500, 100, 200
	n.Train.Stage1Epochs, n.Train.Stage2Epochs = 10, 4
	return e
}

// Validate reports the first setting that is out of range, or does not go with others, as a *setting.Error.
func (e *Experiment) Validate() error {
	if len(e.Seeds) == 0 {
		return setting.Errorf("seeds", "table 4: give at least one of `reproduce.seeds`")
	}
	if err := experiment.CheckSeeds("seeds", "table 4", e.Seeds); err != nil {
		return err
	}
	d := &e.Nets.Data
	switch {
	case d.TestSize < 1 || d.ValidationSize < 1:
		return setting.Errorf("data.test_size",
			"table 4: `table4.validation_size` and `table4.test_size` are at least 1")
	case e.PerClip < scenes.CaptionsPerPicture || e.PerClip > 100:
		return setting.Errorf("captions_per_clip",
			"table 4: `table4.captions_per_clip` is %d, want %d to 100", e.PerClip, scenes.CaptionsPerPicture)
	}
	if e.Videos != nil {
		return e.Captioner.Validate()
	}
	nets := e.nets()
	return cmp.Or(nets.Validate(), e.Captioner.Validate())
}

// nets is the configuration of the nets, on the device of the captioners.
func (e *Experiment) nets() run.Config {
	c := e.Nets
	c.Run.Device, c.Run.Threads = e.Captioner.Device, e.Captioner.Threads
	return c
}

// Run trains everything that is not complete, writes the tables to the folder, and returns them: the table of the
// experiment, and the paper's table, which is about other clips. A wrong experiment is a *setting.Error. If the context
// ends, finished work has been saved, the error wraps run.ErrInterrupted, and the next Run continues.
func (e *Experiment) Run(ctx context.Context) (tables []*report.Table, err error) {
	if err := e.Validate(); err != nil {
		return nil, err
	}
	e.defaults()
	release, err := e.takeFolder(ctx, true)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, release()) }()
	c, rows, err := e.captionedClips(ctx)
	if err != nil {
		return nil, err
	}
	e.rows, tables = rows, e.tables(c, rows)
	return tables, run.SaveFiles(ctx, e.Log, func() error { return experiment.WriteTables(e.Dir, tables) })
}

// captionedClips are the clips of the experiment and the rows of its table.
func (e *Experiment) captionedClips(ctx context.Context) (c *clips, rows []report.CaptionRow, err error) {
	if e.Videos != nil {
		return e.runVideos(ctx)
	}
	if c, err = e.scenes(ctx); err != nil {
		return nil, nil, err
	}
	rows, err = e.captionAll(ctx, c)
	return c, rows, err
}

// defaults fills empty fields.
func (e *Experiment) defaults() {
	if e.Meteor == nil {
		e.Meteor = metrics.NewMeteor()
	}
	e.Log = cmp.Or(e.Log, slog.New(slog.DiscardHandler))
}

// Rows returns the results of Run: nets in the order of Arms with the scores of each seed,
// followed by bounds for comparison. It is nil before Run.
func (e *Experiment) Rows() []report.CaptionRow { return e.rows }

// tables returns the table of the experiment and the paper's table. They are separate, because they are about
// other clips.
func (e *Experiment) tables(c *clips, rows []report.CaptionRow) []*report.Table {
	table := report.Table4("Captions of "+c.title, rows)
	table.Notes = append(table.Notes, fmt.Sprintf("CIDEr-D, BLEU-4, ROUGE-L and METEOR (1.5, modules %s) times 100; "+
		"mean ± standard deviation over seeds.", e.Meteor.Modules()))
	published := report.PublishedTable4()
	if e.Videos == nil {
		published.Notes = []string{
			"Other clips, captions and words than the moving scenes above: not to be compared with them.",
		}
	}
	return []*report.Table{table, published}
}

// truth is the name of the captioner that is given the true concepts.
const truth = "truth"

// Folders of an experiment.
const (
	captionersFolder = "captioners" // made first
	conceptsFolder   = "concepts"   // the nets
	featuresFolder   = "features"   // concepts of each frame
)

func (e *Experiment) features(seed uint64, arm string) string {
	return filepath.Join(e.Dir, featuresFolder, fmt.Sprintf("seed-%d", seed), arm)
}

// Folders returns the folders of all nets and captioners of the experiment, in the order of training. Nets in
// other places are not included.
func (e *Experiment) Folders() (nets, captioners []string, err error) {
	if e.Videos == nil {
		grid := e.grid(filepath.Join(e.Dir, conceptsFolder))
		if err := grid.ResolveNoise(); err != nil {
			return nil, nil, err
		}
		tasks, err := grid.Tasks()
		if err != nil {
			return nil, nil, err
		}
		for _, t := range tasks {
			nets = append(nets, t.Dir)
		}
	}
	for _, seed := range e.Seeds {
		for _, name := range e.names() {
			captioners = append(captioners, e.captioner(seed, name))
		}
	}
	return nets, captioners, nil
}

func (e *Experiment) grid(dir string) experiment.Grid {
	grid := experiment.New(e.nets(), dir)
	grid.Arms, grid.MIL, grid.Seeds = Arms(), experiment.WithMIL, e.Seeds
	return grid
}

func (e *Experiment) names() (all []string) {
	for _, a := range Arms() {
		all = append(all, string(a))
	}
	if e.Videos == nil {
		all = append(all, truth)
	}
	return all
}

func (e *Experiment) captioner(seed uint64, name string) string {
	return filepath.Join(e.Dir, captionersFolder, fmt.Sprintf("seed-%d", seed), name)
}

// takeFolder makes the folder of everything, or takes it, until release is called; alone keeps other processes out.
func (e *Experiment) takeFolder(ctx context.Context, alone bool) (release func() error, err error) {
	release = func() error { return nil }
	if alone {
		if release, err = run.LockFolder(ctx, e.Dir, e.Log); err != nil {
			return nil, err
		}
	}
	if err := run.SaveFiles(ctx, e.Log, e.makeFolder); err != nil {
		return nil, errors.Join(err, release())
	}
	return release, nil
}

// makeFolder makes the folder, and refuses one with other files.
func (e *Experiment) makeFolder() error {
	if err := run.RefuseForeign(e.Dir, captionersFolder, append(experiment.TableFiles(), featuresFolder,
		conceptsFolder)...); err != nil {
		return err
	}
	return os.MkdirAll(filepath.Join(e.Dir, captionersFolder), 0o777)
}

// clips are the clips of the experiment: captions, and folders of features.
type clips struct {
	title string // for the heading of the table
	// captions of each split. Test clips are scored.
	captions map[string]*metrics.Captions
	held     map[string]bool // training clips that end the training of a captioner, where they are not a split
	rows     []row
}

// row is a captioner of the table: its name, and the place of its features for a seed.
type row struct {
	name, title string
	folder      func(seed uint64) string
	aside       bool
}

// The splits of the experiment, as files of features are called after them.
const (
	splitTrain      = "train"
	splitValidation = "validation"
	splitTest       = "test"
)
