package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"nmn/internal/durable"
	"nmn/internal/visible"
	"nmn/loader"
	"nmn/loader/frames"
	"nmn/loader/shard"
	"nmn/run"
	"nmn/text"
)

type framesCommand struct {
	config  frames.Config
	options frames.Options
	list    string
	mib     float64 // of a shard
	ffmpeg  string
	shard   run.Shard
	check   bool
	rebuild bool
	asJSON  bool
}

func newFrames(p *program) *cobra.Command {
	kept := shard.DefaultConfig()
	c := framesCommand{config: frames.DefaultConfig(), mib: float64(kept.ShardBytes) / (1 << 20),
		options: frames.Options{MaxBad: 100}}
	cmd := &cobra.Command{
		Use:   "frames [CLIPS...]",
		Short: "Take frames of video clips for training",
		Long: `Take frames of video clips with ffmpeg, and write them as JPEG files in shards.
CLIPS are files and folders; nmn train takes the folder of the frames.`,
		Annotations: details(`Folders are searched for clips; --list gives a file with a path on each line, in the order to
keep. A clip has the name of its path in the only folder, or the path as given. Shards are
WebDataset files (.tar) with an index.

From a clip of n decoded frames, --frames m takes frame floor((i + 1/2) n / m) for i from 0 to
m-1; a clip with at most m frames gives all of them. Clips are rotated as they ask for. An
unreadable clip is left out and listed in problems.jsonl.

It needs ffmpeg 5.1 or newer. If the command is interrupted or the disk is full, repeat the
command: it continues, and finished shards stay valid. Results do not depend on --workers.`),
		Example: `  nmn frames clips/ --output frames/
  nmn frames --list train.txt --output frames/ --frames 8 --size 340
  nmn frames --check --output frames/`,
		Args:              arguments(p, cobra.ArbitraryArgs),
		ValidArgsFunction: completeFiles("avi", "gif", "mkv", "mov", "mp4", "webm", "y4m"),
		RunE:              func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), p, args) },
	}
	r := under(cmd, "Frames")
	r.int(&c.config.Frames, "frames", "take this many `frames` of each clip")
	r.int(&c.config.Size, "size", "shrink longer sides to this many `pixels`; 0 keeps sizes")
	r.int(&c.config.Quality, "quality", "set the JPEG `quality`, 1 to 100")
	r = under(cmd, "Clips")
	r.file(&c.list, "list", "read the paths of clips from this `file`, one a line", "txt")
	r.shard(&c.shard, "clips")
	r.int(&c.options.Workers, "workers", "decode this many `clips` at once; 0 for all CPUs", "[0,]")
	r.int(&c.options.MaxBad, "max-bad-clips", "leave out up to this many unreadable `clips`", "[0,]")
	r.int(&c.config.MaxPixels, "max-pixels", "refuse clips whose frames have more `pixels`")
	r.duration(&c.config.Timeout, "clip-timeout", "kill ffmpeg after this `time` for a pass over a clip")
	r.file(&c.ffmpeg, "ffmpeg", "decode with this `program`")
	r.int(&c.config.Threads, "ffmpeg-threads", "use this many `threads` for each decoder")
	out := under(cmd, "Output")
	out.directory(&c.options.Output, "output", "write to this `folder`")
	out.float(&c.mib, "shard-size", "write shards of about this many `MiB`", "[0.001,1048576]")
	out.bool(&c.check, "check", "only check the folder against its index")
	out.bool(&c.rebuild, "rebuild-index", "only rebuild the index of the folder")
	out.excludes("check", "rebuild-index")
	out.bool(&c.asJSON, "json", "print what was done as JSON")
	return cmd
}

func (c *framesCommand) run(ctx context.Context, p *program, paths []string) error {
	if err := c.validate(paths); err != nil {
		return err
	}
	switch {
	case c.check:
		found, err := shard.CheckFolder(ctx, c.options.Output)
		return c.tellFolder(p, found, err)
	case c.rebuild:
		found, err := shard.RebuildFolder(c.options.Output)
		return c.tellFolder(p, found, err)
	}
	sources, err := c.sources(paths)
	if err != nil {
		return err
	}
	tool, err := frames.Find(ctx, c.ffmpeg)
	if err != nil {
		return err
	}
	p.log.Info("frames", "ffmpeg", tool.Path, "version", tool.Version, "clips", len(sources), "workers", c.options.Workers)
	if show := p.counted("frames", "clips"); show != nil {
		c.options.Notify = func(f frames.Progress) { show(f.Done-f.Before, f.Clips-f.Before) }
	}
	sum, err := frames.Make(ctx, tool, c.config, sources, c.options)
	p.status.clear()
	if errors.Is(err, shard.ErrExists) || errors.Is(err, shard.ErrSettings) {
		return usageError{err}
	}
	if err != nil {
		return err
	}
	if c.asJSON {
		return writeJSON(p.out, sum)
	}
	p.tellShard(c.shard, "move the files of all shards into one folder, then run nmn frames --rebuild-index")
	next, err := nextOfFrames(c.options.Output)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.out, "%s\n%s\n", tellFrames(sum), next)
	return err
}

func (c *framesCommand) validate(paths []string) error {
	only := ""
	switch {
	case c.check:
		only = "check"
	case c.rebuild:
		only = "rebuild-index"
	}
	switch {
	case c.options.Output == "":
		return usagef("frames: --output is missing: give the folder of the frames")
	case only != "" && (len(paths) > 0 || c.list != "" || c.shard.Of > 0):
		return usagef("frames: --%s only uses --output: leave out clips, --list and --shard", only)
	case only != "":
		return nil
	case (len(paths) == 0) == (c.list == ""):
		return usagef("frames: give either clips and folders of clips, or --list")
	}
	if err := c.config.Validate(); err != nil {
		return usageError{err}
	}
	c.options.ShardBytes = int64(c.mib * (1 << 20))
	c.options.Describe = func(err error) string { return withFlags(err.Error()) }
	if c.options.Workers == 0 {
		c.options.Workers = runtime.GOMAXPROCS(0)
	}
	return nil
}

func (c *framesCommand) sources(paths []string) (all []frames.Source, err error) {
	if c.list != "" {
		all, err = frames.ReadList(c.list)
	} else {
		all, err = frames.Search(paths)
	}
	if err != nil || c.shard.Of == 0 {
		return all, err
	}
	from, to, err := c.shard.Range(len(all), "clips")
	c.options.FirstShard = (c.shard.Number - 1) * (1_000_000 / c.shard.Of) // files of all shards fit into one folder
	return all[from:to], err
}

func tellFrames(s frames.Summary) string {
	line := fmt.Sprintf("%s: %s", s.Output, text.Count(s.Clips, "clips"))
	if s.Before > 0 {
		line += fmt.Sprintf(", %d of them already present", s.Before)
	}
	line += fmt.Sprintf("; %s in %.1f MB taken in %s", text.Count(s.Frames, "frames"), float64(s.Bytes)/1e6,
		brief(time.Duration(s.Seconds*float64(time.Second))))
	if s.LeftOut+s.Damaged > 0 {
		line += fmt.Sprintf("; %s left out and %d damaged clips kept: see %s there", text.Count(s.LeftOut, "clips"),
			s.Damaged, frames.ProblemsName)
	}
	return line
}

// nextOfFrames returns the next command: how nmn train gets the labels of the clips.
func nextOfFrames(folder string) (string, error) {
	train := "next    " + shellLine([]string{"nmn", "train", folder})
	if durable.Exists(filepath.Join(folder, loader.LabelsName)) {
		return train + "   # with the labels in " + loader.LabelsName, nil
	}
	for r, err := range shard.Records(folder) {
		switch {
		case errors.Is(err, os.ErrNotExist):
			return "", nil
		case err != nil:
			return "", err
		case strings.Contains(r.Clip, "/"):
			return train + "   # the folder of each clip is its label, as in " + visible.Line(r.Clip) + "\n" +
				"        or with a table of labels: " + tableOfClips(folder), nil
		}
		return "next    write a table with a row for each clip (clip,labels and " + visible.Line(r.Clip) +
			",dog;grass), then\n        " + tableOfClips(folder), nil
	}
	return "", nil
}

// tableOfClips returns the command that trains on clips with labels in a table.
func tableOfClips(folder string) string {
	return shellLine([]string{"nmn", "train", "clips.csv", "--images", folder})
}

// tellFolder prints the result of a check of the folder, or returns its error.
func (c *framesCommand) tellFolder(p *program, found shard.Contents, err error) error {
	switch {
	case err != nil:
		return err
	case c.asJSON:
		return writeJSON(p.out, found)
	}
	_, err = fmt.Fprintf(p.out, "%s: %s with %s; all match the index\n", found.Folder,
		text.Count(found.Clips, "clips"), text.Count(found.Frames, "frames"))
	return err
}
