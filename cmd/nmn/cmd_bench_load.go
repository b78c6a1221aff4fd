package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"nmn/bench/measure"
	"nmn/loader"
	"nmn/loader/augment"
	"nmn/loader/dataset"
	"nmn/loader/picture"
)

type loadCommand struct {
	loading measure.Loading
	augment augment.Bundle
	asJSON  bool
}

func newBenchLoad(p *program) *cobra.Command {
	c := &loadCommand{loading: measure.Loading{Options: measure.Options{Repeats: 5, Warmup: 1},
		Loader: loader.DefaultConfig()}}
	l := &c.loading.Loader
	l.Size, l.BatchSize, l.Fit, l.Flip, l.Shuffle = 565, 8, picture.FitLongest, false, false
	l.Resize = picture.FilterBilinear
	cmd := &cobra.Command{
		Use:   "load FOLDER",
		Short: "Measure how fast pictures are loaded",
		Long: `Measure how fast the loader of training puts the pictures of a folder into batches: reading,
decoding and resizing.`,
		Annotations: details(`Each repeat loads --images pictures, from the beginning of the folder as often as needed. The first
passes fill the system's file cache. --step-ms simulates a device that takes this time for each
batch: "wait" is then the time that it waits for the loader.`),
		Example: `  nmn bench load --size 565 --workers 2 pictures
  nmn bench load --step-ms 80 --batch 8 --json pictures
  nmn bench load --size 224 --fit square --augment strong pictures`,
		Args: arguments(p, counted(1, 1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			c.loading.Loader.Augment = c.augment.Config()
			if err := c.loading.Loader.Validate(); err != nil {
				return usageError{err}
			}
			return c.run(cmd.Context(), p, args[0])
		},
	}
	r := under(cmd, "Loading")
	r.int(&l.Size, "size", "set height and width of the canvas in `pixels`")
	enum(r, &l.Fit, "fit", "fit pictures onto the canvas this way", picture.FitLongest, picture.FitSquare)
	enum(r, &l.Resize, "resize", "resize with this `filter`", picture.Filters()...)
	r.int(&l.BatchSize, "batch", "put this many `pictures` in a batch")
	r.int(&l.Workers, "workers", "load with this many `goroutines`")
	r.int(&l.Prefetch, "prefetch", "prepare this many `batches` ahead")
	l.Mean = [3]uint8{124, 117, 104}
	enum(r, &c.augment, "augment", "change pictures at random", augment.Bundles()...)
	m := under(cmd, "Measurement")
	m.int(&c.loading.Images, "images", "load this many `pictures` in each repeat (default all)", "[0,1000000]")
	m.float(&c.loading.StepMS, "step-ms", "simulate a step of this many `milliseconds`", "[0,1e6]")
	m.int(&c.loading.Repeats, "repeats", "measure this many `passes`", "[1,1000000]")
	m.int(&c.loading.Warmup, "warmup", "run this many unmeasured `passes` first", "[0,1000000]")
	m.bool(&c.asJSON, "json", "print JSON")
	return cmd
}

func (c *loadCommand) run(ctx context.Context, p *program, folder string) error {
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return usagef("bench: %s is not a folder of pictures", folder)
	}
	paths, skipped, err := dataset.FindPictures(ctx, []string{folder}, "")
	if err != nil {
		return err
	}
	p.tellSkipped(skipped)
	f, err := measure.Load(ctx, folder, dataset.PictureIDs([]string{folder}, "", paths), c.loading)
	if err != nil {
		return err
	}
	text := fmt.Sprintf("%d pictures of %s to %d pixels, batches of %d, %d workers, SIMD %s\n"+
		"%.1f images/s (%.1f to %.1f), %.1f MB/s of files, %.2f ms of the processors for each\n"+
		"wait for a batch %.2f ms, %.0f %% of the time, %.1f allocations for each picture\n",
		f.Images, f.Folder, f.Size, f.Batch, f.Workers, f.Build.SIMD,
		f.ImagesPerS, f.ImagesMin, f.ImagesMax, f.BytesPerS/1e6, f.ImageCPUMS, f.WaitMS, 100*f.WaitShare, f.AllocsImage)
	if f.Augment != "" {
		text += f.Augment + "\n"
	}
	if f.BadSamples > 0 {
		text += fmt.Sprintf("%d pictures could not be used\n", f.BadSamples)
	}
	return p.print(c.asJSON, f, "%s", text)
}
