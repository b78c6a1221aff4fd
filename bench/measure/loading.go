package measure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	dense "gorgonia.org/tensor"

	"nmn/loader"
	"nmn/loader/picture"
	"nmn/run"
	"nmn/text"
)

// Loading is the settings for loading pictures.
type Loading struct {
	Options               // Threads is not used here
	Loader  loader.Config // MaxBadSamples apart: broken pictures are counted
	Images  int           // pictures of a pass, the files from their beginning as often as needed; 0 for each file once
	StepMS  float64       // milliseconds that the consumer takes for each batch, as a device does
}

// LoadFigures are measurements of loading pictures: medians of the passes, except for the extremes.
type LoadFigures struct {
	Folder      string    `json:"folder"`
	Images      int       `json:"images"` // of a repeat
	Size        int       `json:"size"`
	Fit         string    `json:"fit"`
	Augment     string    `json:"augment,omitempty"` // how pictures are changed at random
	Resize      string    `json:"resize"`
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
	ImageCPUMS  float64   `json:"image_cpu_ms,omitempty"` // of all processors; 0 if the system does not report it
	BytesPerS   float64   `json:"bytes_per_s"`            // of files
	WaitMS      float64   `json:"wait_ms"`                // for a batch
	WaitShare   float64   `json:"wait_share"`             // of the time
	AllocsImage float64   `json:"allocs_per_image"`
	BadSamples  int       `json:"bad_samples"`
	Build       run.Build `json:"build"`
}

// Load measures how fast pictures of a folder get into batches, by the loader that training uses: reading, decoding,
// resizing onto the canvas. files are named within the folder.
func Load(ctx context.Context, folder string, files []string, o Loading) (f *LoadFigures, err error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	files, bytes, err := repeated(folder, files, o.Images)
	if err != nil {
		return nil, err
	}
	source, err := loader.NewFileSource(folder, files)
	if err != nil {
		return nil, err
	}
	set, err := unlabelled(filepath.Base(folder), files, source)
	if err != nil {
		return nil, err
	}
	c := o.Loader
	c.MaxBadSamples = set.Len() // they are counted
	l, err := loader.New(set, c)
	if err != nil {
		return nil, err
	}
	passes := make([]pass, 0, o.Repeats)
	for i := range o.Warmup + o.Repeats {
		p, err := o.pass(ctx, l, i)
		if err != nil {
			return nil, err
		}
		if i >= o.Warmup {
			passes = append(passes, p)
		}
	}
	f = &LoadFigures{
		Folder: folder, Images: set.Len(), Size: c.Size, Fit: string(c.Fit),
		Resize: string(cmp.Or(c.Resize, picture.FilterBilinear)), Augment: c.Augment.String(),
		Batch: c.BatchSize, Workers: c.Workers, Prefetch: c.Prefetch, StepMS: o.StepMS, Repeats: o.Repeats,
		Processors: runtime.GOMAXPROCS(0), BadSamples: l.Stats().BadSamples, Build: run.ThisBuild(),
	}
	f.summarize(passes, l.Batches(), bytes)
	return f, nil
}

// repeated names the pictures of a pass, n of the files in their order or each once, with the bytes that they are.
func repeated(folder string, files []string, n int) (all []string, bytes int64, err error) {
	if len(files) == 0 {
		return nil, 0, errors.New("bench: there is no picture to load")
	}
	n = cmp.Or(n, len(files))
	for i := range n {
		name := files[i%len(files)]
		info, err := os.Stat(filepath.Join(folder, filepath.FromSlash(name)))
		if err != nil {
			return nil, 0, err
		}
		all, bytes = append(all, name), bytes+info.Size()
	}
	return all, bytes, nil
}

// unlabelled is a set of files that may repeat. Its labels are not used.
func unlabelled(name string, files []string, source loader.Source) (*loader.Set, error) {
	vocabulary, err := text.NewVocabulary([]text.Word{{Text: "unknown"}})
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(files))
	for i, file := range files {
		ids[i] = fmt.Sprintf("%d: %s", i, file)
	}
	labels := dense.New(dense.WithShape(len(files), 1), dense.WithBacking(make([]uint8, len(files))))
	return &loader.Set{Name: name, Vocabulary: vocabulary, IDs: ids, Labels: labels, Source: source}, nil
}

type pass struct {
	took, wait, cpu time.Duration
	images, allocs  int
}

// pass loads all pictures once, as epoch number.
func (o *Loading) pass(ctx context.Context, l *loader.Loader, number int) (p pass, err error) {
	waited, allocs := l.Stats().Waited, allocations()
	cpu, began := processorTime(), time.Now()
	err = l.Pass(ctx, number, func(batch *loader.Batch) {
		time.Sleep(time.Duration(o.StepMS * float64(time.Millisecond)))
		p.images += batch.T
	})
	if err != nil {
		return p, err
	}
	if p.images == 0 {
		return p, fmt.Errorf("bench: no picture could be loaded: %w", l.Bad(0)[0].Err)
	}
	p.took, p.cpu = time.Since(began), processorTime()-cpu
	p.wait, p.allocs = l.Stats().Waited-waited, int(allocations()-allocs)
	return p, nil
}

func medianFigure(passes []pass, figure func(pass) float64) float64 {
	values := make([]float64, len(passes))
	for i, p := range passes {
		values[i] = figure(p)
	}
	slices.Sort(values)
	return middle(values)
}

// summarize computes the figures of passes over a number of batches and bytes.
func (f *LoadFigures) summarize(passes []pass, batches int, bytes int64) {
	perS := func(p pass) float64 { return rate(float64(p.images), p.took) }
	perImage := func(d time.Duration, p pass) float64 { return milliseconds(d) / float64(p.images) }
	f.ImagesPerS = medianFigure(passes, perS)
	f.ImagesMin, f.ImagesMax = f.ImagesPerS, f.ImagesPerS
	for _, p := range passes {
		f.ImagesMin, f.ImagesMax = min(f.ImagesMin, perS(p)), max(f.ImagesMax, perS(p))
	}
	f.ImageMS = medianFigure(passes, func(p pass) float64 { return perImage(p.took, p) })
	f.ImageCPUMS = medianFigure(passes, func(p pass) float64 { return perImage(p.cpu, p) })
	f.BytesPerS = medianFigure(passes, func(p pass) float64 { return rate(float64(bytes), p.took) })
	f.WaitMS = medianFigure(passes, func(p pass) float64 { return milliseconds(p.wait) / float64(batches) })
	f.WaitShare = medianFigure(passes, func(p pass) float64 { return p.wait.Seconds() / p.took.Seconds() })
	f.AllocsImage = medianFigure(passes, func(p pass) float64 { return float64(p.allocs) / float64(p.images) })
}
