package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"nmn/loader"
	"nmn/loader/dataset"
	"nmn/loader/picture"
	"nmn/run"
	"nmn/text"
)

// loadCommand are the flags of nmn bench load.
type loadCommand struct {
	images  int
	stepMS  float64
	repeats int
	warmup  int
	asJSON  bool
	loading loader.Config
}

// loadFigures are what nmn bench load tells. Medians of the repeats, but for the extremes.
type loadFigures struct {
	Folder      string    `json:"folder"`
	Decoder     string    `json:"decoder"`
	Images      int       `json:"images"` // of a repeat
	Size        int       `json:"size"`
	Fit         string    `json:"fit"`
	Batch       int       `json:"batch"`
	Workers     int       `json:"workers"`
	Prefetch    int       `json:"prefetch"`
	StepMS      float64   `json:"step_every_ms"` // that the consumer takes for a batch
	Repeats     int       `json:"repeats"`
	Processors  int       `json:"processors"`
	ImagesPerS  float64   `json:"images_per_s"`
	ImagesMin   float64   `json:"images_per_s_min"`
	ImagesMax   float64   `json:"images_per_s_max"`
	ImageMS     float64   `json:"image_ms"`               // of the clock
	ImageCPUMS  float64   `json:"image_cpu_ms,omitempty"` // of all processors; 0 where the system does not tell
	BytesPerS   float64   `json:"bytes_per_s"`            // of files
	WaitMS      float64   `json:"wait_ms"`                // for a batch
	WaitShare   float64   `json:"wait_share"`             // of the time
	AllocsImage float64   `json:"allocs_per_image"`
	BadSamples  int       `json:"bad_samples"`
	Build       run.Build `json:"build"`
}

func newBenchLoad(p *program) *cobra.Command {
	c := &loadCommand{repeats: 5, warmup: 1, loading: loader.DefaultConfig()}
	l := &c.loading
	l.Size, l.BatchBags, l.Fit, l.Flip, l.Shuffle, l.Decoder = 565, 8, picture.FitLongest, false, false, picture.DecoderGo
	cmd := &cobra.Command{
		Use:   "load FOLDER",
		Short: "Measure how fast pictures are loaded",
		Long: `Measure how fast the pictures of a folder get into batches: reading, decoding, resizing onto the
canvas, by the loader that training uses. A repeat loads as many pictures as --images says, the folder
from its beginning as often as needed; the first passes fill the system's cache of files. A consumer that
takes --step-ms for each batch, as a device does, tells whether the loader keeps up: wait is how long it
stood still.`,
		Example: `  nmn bench load --size 565 --workers 2 pictures
  nmn bench load --step-ms 80 --batch 8 --json pictures`,
		Args: arguments(p, cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.validate(); err != nil {
				return usageError{err}
			}
			return c.run(cmd.Context(), p, args[0])
		},
	}
	r := under(cmd, "Loading")
	r.int(&l.Size, "size", "height and width of the canvas in `pixels`")
	enum(r, &l.Fit, "fit", "how a picture gets onto the canvas", picture.FitLongest, picture.FitSquare)
	enum(r, &l.Decoder, "decoder", "what decodes JPEG files: nmn's own, libjpeg-turbo or Go's image/jpeg", picture.DecoderGo, picture.DecoderTurbo, picture.DecoderStd)
	r.int(&l.BatchBags, "batch", "`pictures` of a batch")
	r.int(&l.Workers, "workers", "`goroutines` that load")
	r.int(&l.Prefetch, "prefetch", "`batches` made ahead")
	m := under(cmd, "Measurement")
	m.int(&c.images, "images", "`pictures` of a repeat (default those of the folder)")
	m.float(&c.stepMS, "step-ms", "`milliseconds` that the consumer takes for each batch")
	m.int(&c.repeats, "repeats", "measured `passes`")
	m.int(&c.warmup, "warmup", "`passes` before them")
	m.bool(&c.asJSON, "json", "write JSON")
	return cmd
}

func (c *loadCommand) validate() error {
	const most = 1_000_000
	switch {
	case c.repeats < 1 || c.repeats > most || c.warmup < 0 || c.warmup > most:
		return fmt.Errorf("bench: --repeats is 1 to %d, --warmup 0 to %d", most, most)
	case c.images < 0 || c.images > most:
		return fmt.Errorf("bench: --images is %d, want 1 to %d", c.images, most)
	case !(c.stepMS >= 0 && c.stepMS <= 1e6):
		return fmt.Errorf("bench: --step-ms is %g, want 0 to 1e6", c.stepMS)
	}
	return c.loading.Validate()
}

func (c *loadCommand) run(ctx context.Context, p *program, folder string) (err error) {
	files, bytes, err := c.files(folder)
	if err != nil {
		return err
	}
	source, err := loader.NewFileSource(folder, files)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, source.Close()) }()
	set, err := measuredSet(filepath.Base(folder), files, source)
	if err != nil {
		return err
	}
	c.loading.MaxBadSamples = set.Len() // they are counted
	l, err := loader.New(set, c.loading)
	if err != nil {
		return err
	}
	passes := make([]loadPass, 0, c.repeats)
	for i := range c.warmup + c.repeats {
		pass, err := c.pass(ctx, l, i)
		if err != nil {
			return err
		}
		if i >= c.warmup {
			passes = append(passes, pass)
		}
	}
	f := loadFigures{
		Folder: folder, Decoder: string(c.loading.Decoder), Images: set.Len(), Size: c.loading.Size, Fit: string(c.loading.Fit),
		Batch: c.loading.BatchBags, Workers: c.loading.Workers, Prefetch: c.loading.Prefetch, StepMS: c.stepMS, Repeats: c.repeats,
		Processors: runtime.GOMAXPROCS(0), BadSamples: l.Stats().BadSamples, Build: run.ThisBuild(),
	}
	f.summarize(passes, l.Batches(), bytes)
	return f.write(p, c.asJSON)
}

// files names the pictures of a repeat within the folder, which is gone through as often as needed, and
// tells how many bytes they are.
func (c *loadCommand) files(folder string) (files []string, bytes int64, err error) {
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return nil, 0, usagef("bench: %s is not a folder of pictures", folder)
	}
	paths, err := dataset.FindPictures([]string{folder})
	if err != nil {
		return nil, 0, err
	}
	names, n := dataset.PictureIDs([]string{folder}, paths), c.images
	if n == 0 {
		n = len(names)
	}
	for i := range n {
		info, err := os.Stat(paths[i%len(paths)])
		if err != nil {
			return nil, 0, err
		}
		files, bytes = append(files, names[i%len(names)]), bytes+info.Size()
	}
	return files, bytes, nil
}

// measuredSet is a set of files that may repeat.
func measuredSet(name string, files []string, source loader.Source) (*loader.Set, error) {
	vocabulary, err := text.NewVocabulary([]text.Word{{Text: "unknown"}})
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(files))
	for i, file := range files {
		ids[i] = fmt.Sprintf("%d: %s", i, file)
	}
	return &loader.Set{Name: name, Vocabulary: vocabulary, IDs: ids, Labels: dataset.UnknownLabels(len(files), 1), Source: source}, nil
}

// loadPass is one pass over the pictures.
type loadPass struct {
	took, wait, cpu time.Duration
	images, allocs  int
}

// pass loads all pictures once, as epoch number.
func (c *loadCommand) pass(ctx context.Context, l *loader.Loader, number int) (pass loadPass, err error) {
	waited, allocs := l.Stats().Waited, allocations()
	cpu, began := processorTime(), time.Now()
	epoch, err := l.Epoch(ctx, number, 0)
	if err != nil {
		return pass, err
	}
	defer epoch.Close()
	for {
		batch, err := epoch.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return pass, err
		}
		time.Sleep(time.Duration(c.stepMS * float64(time.Millisecond)))
		pass.images += batch.T
		batch.Release()
	}
	if pass.images == 0 {
		return pass, fmt.Errorf("bench: no picture could be loaded: %w", l.Bad(0)[0].Err)
	}
	pass.took, pass.cpu = time.Since(began), processorTime()-cpu
	pass.wait, pass.allocs = l.Stats().Waited-waited, int(allocations()-allocs)
	return pass, nil
}

// middle is the median of a figure of all passes.
func middle(passes []loadPass, figure func(loadPass) float64) float64 {
	values := make([]float64, len(passes))
	for i, pass := range passes {
		values[i] = figure(pass)
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// summarize computes the figures of passes over so many batches and bytes.
func (f *loadFigures) summarize(passes []loadPass, batches int, bytes int64) {
	perS := func(p loadPass) float64 { return rate(float64(p.images), p.took) }
	perImage := func(d time.Duration, p loadPass) float64 { return milliseconds(d) / float64(p.images) }
	f.ImagesPerS = middle(passes, perS)
	f.ImagesMin, f.ImagesMax = f.ImagesPerS, f.ImagesPerS
	for _, p := range passes {
		f.ImagesMin, f.ImagesMax = min(f.ImagesMin, perS(p)), max(f.ImagesMax, perS(p))
	}
	f.ImageMS = middle(passes, func(p loadPass) float64 { return perImage(p.took, p) })
	f.ImageCPUMS = middle(passes, func(p loadPass) float64 { return perImage(p.cpu, p) })
	f.BytesPerS = middle(passes, func(p loadPass) float64 { return rate(float64(bytes), p.took) })
	f.WaitMS = middle(passes, func(p loadPass) float64 { return milliseconds(p.wait) / float64(batches) })
	f.WaitShare = middle(passes, func(p loadPass) float64 { return p.wait.Seconds() / p.took.Seconds() })
	f.AllocsImage = middle(passes, func(p loadPass) float64 { return float64(p.allocs) / float64(p.images) })
}

func (f *loadFigures) write(p *program, asJSON bool) error {
	if asJSON {
		return writeJSON(p.out, f)
	}
	_, err := fmt.Fprintf(p.out, "%d pictures of %s to %d pixels, batches of %d, %d workers, decoder %s, SIMD %s\n"+
		"%.1f images/s (%.1f to %.1f), %.1f MB/s of files, %.2f ms of the processors for each\n"+
		"wait for a batch %.2f ms, %.0f %% of the time, %.1f allocations for each picture\n",
		f.Images, f.Folder, f.Size, f.Batch, f.Workers, f.Decoder, f.Build.SIMD,
		f.ImagesPerS, f.ImagesMin, f.ImagesMax, f.BytesPerS/1e6, f.ImageCPUMS, f.WaitMS, 100*f.WaitShare, f.AllocsImage)
	if err == nil && f.BadSamples > 0 {
		_, err = fmt.Fprintf(p.out, "%d pictures could not be used\n", f.BadSamples)
	}
	return err
}

// processorTime is what this process has taken of all processors, in steps of a hundredth of a second,
// where the system tells it, as Linux does; else 0.
func processorTime() time.Duration {
	const user, system, tick = 11, 12, 10 * time.Millisecond // fields behind the name
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	if len(fields) <= system {
		return 0
	}
	var ticks int64
	for _, i := range []int{user, system} {
		n, err := strconv.ParseInt(fields[i], 10, 64)
		if err != nil {
			return 0
		}
		ticks += n
	}
	return time.Duration(ticks) * tick
}
