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
)

// framesCommand are the flags of nmn frames.
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
		options: frames.Options{Form: kept.Form, MaxBad: 100}}
	cmd := &cobra.Command{
		Use:   "frames [CLIPS...]",
		Short: "Take frames of video clips for training",
		Long: `Take frames of video clips, and keep them as JPEG files in WebDataset shards (.tar) with an
index, or in a folder for each clip. CLIPS are files and folders, which are searched for
clips; --list names a file with a path on each line instead, in the order to keep. A clip is
named by its path in the only folder, or else as it is given.

Of a clip of n decoded frames, --frames m takes frame floor((i + 1/2) n / m) for i of 0 to
m-1; one with no more than m gives each of its frames. Clips that are to be turned are
turned. A clip that cannot be read is left out and told in problems.jsonl beside the frames.

ffmpeg 5.1 or newer does the decoding. Interrupted, killed or out of disk, the command goes
on with --resume where it was; shards that are finished stay valid.`,
		Example: `  nmn frames clips/ --output frames/
  nmn frames --list train.txt --output frames/ --frames 8 --size 340
  nmn frames clips/ --output pictures/ --format folder --quality 95
  nmn frames --check --output frames/`,
		Args:              arguments(p, cobra.ArbitraryArgs),
		ValidArgsFunction: completeFiles("avi", "gif", "mkv", "mov", "mp4", "webm", "y4m"),
		RunE:              func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), p, args) },
	}
	r := under(cmd, "Frames")
	r.int(&c.config.Frames, "frames", "`frames` of each clip")
	r.int(&c.config.Size, "size", "shrink pictures whose longest side has more `pixels`, 0 to keep all as they are")
	r.int(&c.config.Quality, "quality", "JPEG `quality`, 1 to 100 as libjpeg counts")
	r = under(cmd, "Clips")
	r.file(&c.list, "list", "`file` with the path of a clip on each line, from its own folder", "txt")
	r.shard(&c.shard, "clips")
	r.int(&c.options.Workers, "workers", "`clips` decoded at once, 0 for one for each CPU. Results do not depend on it")
	r.int(&c.options.MaxBad, "max-bad-clips", "`clips` that may be left out because they cannot be read")
	r.int(&c.config.MaxPixels, "max-pixels", "refuse clips whose frames have more `pixels`")
	r.duration(&c.config.Timeout, "clip-timeout", "`time` after which ffmpeg is killed, for each pass over a clip")
	r.file(&c.ffmpeg, "ffmpeg", "`program` to decode with (default ffmpeg on the PATH)")
	r.int(&c.config.Threads, "ffmpeg-threads", "`threads` of each decoder")
	out := under(cmd, "Output")
	out.directory(&c.options.Output, "output", "`folder` to write to")
	enum(out, &c.options.Form, "format", "`form` of what is written", shard.Shards, shard.Folder)
	out.float(&c.mib, "shard-size", "about how large a shard becomes, in `MiB`")
	out.bool(&c.check, "check", "hold what is in the folder to its index, and do nothing else")
	out.bool(&c.rebuild, "rebuild-index", "make the index again from what is in the folder, and do nothing else")
	out.bool(&c.asJSON, "json", "tell what was done as JSON")
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
	p.log.Info("frames", "ffmpeg", tool.Path, "version", tool.Version, "clips", len(sources),
		"workers", c.options.Workers)
	c.options.Tell = c.progress(p)
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
	p.tellShard(c.shard, "move the files or folders of all shards into one folder, then run nmn frames --rebuild-index "+
		"on it")
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
		return usagef("frames: --output is missing: name the folder of the frames")
	case c.check && c.rebuild:
		return usagef("frames: --check and --rebuild-index are two things: do one after the other")
	case only != "" && (len(paths) > 0 || c.list != "" || c.shard.Of > 0):
		return usagef("frames: --%s looks at --output alone: leave out clips, --list and --shard", only)
	case only != "":
		return nil
	case (len(paths) == 0) == (c.list == ""):
		return usagef("frames: name clips and folders of clips, or a --list of them, one of both")
	case c.options.Workers < 0:
		return usagef("frames: --workers is %d, want at least 0", c.options.Workers)
	case c.options.MaxBad < 0:
		return usagef("frames: --max-bad-clips is %d, want at least 0", c.options.MaxBad)
	case !(c.mib >= 1.0/1024 && c.mib <= 1<<20):
		return usagef("frames: --shard-size is %g MiB, want 1/1024 to %d", c.mib, 1<<20)
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

// progress shows how far it is.
func (c *framesCommand) progress(p *program) func(frames.Progress) {
	show := p.lines()
	if show == nil {
		return nil
	}
	return func(f frames.Progress) {
		show(stage{Title: "frames", Done: f.Done, Total: f.Clips, Unit: "clips"},
			func(since time.Duration) string { return framesLine(f, since) })
	}
}

// framesLine says how far it is; the time that is left is reckoned from the clips so far.
func framesLine(f frames.Progress, since time.Duration) string {
	line := fmt.Sprintf("frames: %d %%, %s left, %d of %d clips", 100*f.Done/max(f.Clips, 1),
		timeLeft(since, f.Done-f.Before, f.Clips-f.Done), f.Done, f.Clips)
	if f.Bad > 0 {
		line += fmt.Sprintf(", %d left out", f.Bad)
	}
	return line
}

func tellFrames(s frames.Summary) string {
	line := fmt.Sprintf("%s: %d clips", s.Output, s.Clips)
	if s.Before > 0 {
		line += fmt.Sprintf(", %d of them there before", s.Before)
	}
	line += fmt.Sprintf("; %d frames in %.1f MB taken in %s", s.Frames, float64(s.Bytes)/1e6,
		brief(time.Duration(s.Seconds*float64(time.Second))))
	if s.LeftOut+s.Damaged > 0 {
		line += fmt.Sprintf("; %d clips left out and %d damaged ones kept: see %s there", s.LeftOut, s.Damaged,
			frames.ProblemsName)
	}
	return line
}

// nextOfFrames says what comes after the frames of clips were taken: how nmn train gets their labels.
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

// tableOfClips is the command that trains on clips with labels in a table.
func tableOfClips(folder string) string {
	return shellLine([]string{"nmn", "train", "clips.csv", "--images", folder})
}

// tellFolder reports what a look at the folder has found, unless it has failed.
func (c *framesCommand) tellFolder(p *program, found shard.Contents, err error) error {
	switch {
	case err != nil:
		return err
	case c.asJSON:
		return writeJSON(p.out, found)
	}
	_, err = fmt.Fprintf(p.out, "%s: %d clips with %d frames, kept as %s, all as the index says\n", found.Folder,
		found.Clips, found.Frames, found.Form)
	return err
}
