package frames

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"nmn/internal/durable"
	"nmn/internal/fault"
	"nmn/internal/setting"
	"nmn/loader/shard"
)

// Options say where frames go and what may happen on the way.
type Options struct {
	Output     string // folder
	ShardBytes int64
	FirstShard int // number of the first shard of a new folder
	Workers    int // clips that are decoded at once
	MaxBad     int // clips that may be left out
	// Called after each clip, from one goroutine; may be nil.
	Notify func(Progress)
	// Describe writes why a clip was left out, for the file of problems; nil for the text of the error.
	Describe func(error) string
}

// Progress is how far the work is.
type Progress struct {
	Clips, Done, Before, Bad int // all; finished or left out; finished by an earlier run; left out
}

// Summary counts what was made.
type Summary struct {
	Output  string  `json:"output"`
	Clips   int     `json:"clips"`    // that have frames there
	Before  int     `json:"before"`   // clips finished by an earlier run
	Frames  int     `json:"frames"`   // frames of this run's clips
	Bytes   int64   `json:"bytes"`    // size of these frames
	LeftOut int     `json:"left_out"` // clips that could not be used
	Damaged int     `json:"damaged"`  // clips that were used, and that ffmpeg complained of
	Seconds float64 `json:"seconds"`
}

// Make extracts the frames of clips and stores them in the order of the clips, whatever the workers do. If it
// ends early, by an error or by the context, finished clips stay, and the next Make skips them. If the
// folder's frames were made with other settings, the error wraps shard.ErrSettings.
func Make(ctx context.Context, f *FFmpeg, c Config, sources []Source, o Options) (sum Summary, err error) {
	began := time.Now()
	if err := c.Validate(); err != nil {
		return sum, err
	}
	if o.Workers < 1 || o.MaxBad < 0 {
		return sum, fmt.Errorf("frames: Workers = %d, want at least 1, and MaxBad = %d, want at least 0", o.Workers, o.MaxBad)
	}
	w, err := openOutput(c, o)
	if err != nil {
		return sum, err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	m := making{options: o, writer: w, sum: &sum, progress: Progress{Clips: len(sources)}}
	left, err := m.skipDone(sources)
	if err != nil {
		return sum, err
	}
	if m.problems, err = openProblems(o.Output, left); err != nil {
		return sum, err
	}
	defer func() { err = errors.Join(err, m.problems.Close()) }()
	err = m.all(ctx, left, func(ctx context.Context, s Source) (*Clip, error) {
		if err := shard.CheckName(s.Name); err != nil {
			return nil, fault.As(ErrClip, err)
		}
		return f.Extract(ctx, s, c)
	})
	if ctx.Err() != nil || errors.Is(err, errTooMany) {
		err = errors.Join(err, w.Flush()) // decoded frames are kept
	} else if err == nil {
		err = w.Finish()
	}
	sum.Output, sum.Seconds = o.Output, time.Since(began).Seconds()
	return sum, err
}

func openOutput(c Config, o Options) (*shard.Writer, error) {
	settings, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	form := shard.Config{ShardBytes: o.ShardBytes, First: o.FirstShard, Settings: settings}
	if problems := filepath.Join(o.Output, ProblemsName); durable.Exists(problems) &&
		!durable.Exists(filepath.Join(o.Output, shard.IndexName)) {
		return nil, setting.Errorf("frames.output", "frames: %s would be overwritten, and there are no frames next to it: "+
			"name another folder, or move it away", problems)
	}
	return shard.Append(o.Output, form)
}

// making is where Make stands.
type making struct {
	options  Options
	writer   *shard.Writer
	problems *problems
	sum      *Summary
	progress Progress
}

// skipDone returns the clips that have no frames yet.
func (m *making) skipDone(sources []Source) ([]Source, error) {
	done := map[string]bool{}
	for r, err := range shard.Records(m.options.Output) {
		if err != nil {
			return nil, err
		}
		done[r.Clip] = true
	}
	m.sum.Clips, m.sum.Before = len(done), len(done)
	var left []Source
	for _, s := range sources {
		if !done[s.Name] {
			left = append(left, s)
		}
	}
	m.progress.Before = len(sources) - len(left)
	m.progress.Done = m.progress.Before
	return left, nil
}

// result is what became of a clip.
type result struct {
	source Source
	clip   *Clip
	err    error
}

// all takes the frames of clips by several workers, and keeps them in order. At most two clips for each
// worker are in memory.
func (m *making) all(ctx context.Context, sources []Source,
	extract func(context.Context, Source) (*Clip, error)) error {
	ctx, cancel := context.WithCancel(ctx)
	var group sync.WaitGroup
	defer group.Wait()
	defer cancel()
	work := make(chan func())
	for range m.options.Workers {
		group.Go(func() {
			for job := range work {
				job()
			}
		})
	}
	// The results in the order of the clips; each arrives when it is ready.
	results := make(chan chan result, m.options.Workers)
	group.Go(func() {
		defer close(work)
		defer close(results)
		for _, s := range sources {
			one := make(chan result, 1)
			select {
			case results <- one:
			case <-ctx.Done():
				return
			}
			select {
			case work <- func() { clip, err := extract(ctx, s); one <- result{s, clip, err} }:
			case <-ctx.Done():
				one <- result{s, nil, ctx.Err()}
				return
			}
		}
	})
	for one := range results {
		if err := m.keep(<-one); err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}

// errTooMany ends a run that has left out too many clips.
var errTooMany = errors.New("frames: too many clips cannot be used")

// keep writes the frames of a clip, or records why there are none.
func (m *making) keep(r result) error {
	switch {
	case errors.Is(r.err, ErrClip):
		m.sum.LeftOut++
		m.progress.Bad++
		cause := r.err.Error()
		if m.options.Describe != nil {
			cause = m.options.Describe(r.err)
		}
		if err := m.problems.add(Problem{Clip: printable(r.source.Name), Cause: cause}); err != nil {
			return err
		}
		if m.sum.LeftOut > m.options.MaxBad {
			return fmt.Errorf("%w: %d of the first %d, the last is %q: %w; all are in %s; `frames.max_bad_clips` leaves out "+
				"more, and run the same command again to continue",
				errTooMany, m.sum.LeftOut, m.progress.Done+1-m.progress.Before, r.source.Name, r.err, m.problems.name)
		}
	case r.err != nil:
		return fmt.Errorf("frames: clip %q: %w", r.source.Name, r.err)
	default:
		if err := m.add(r.clip); err != nil {
			return err
		}
	}
	m.progress.Done++
	if m.options.Notify != nil {
		m.options.Notify(m.progress)
	}
	return nil
}

func (m *making) add(c *Clip) error {
	if err := m.writer.Add(&c.Record, c.Pictures); err != nil {
		return err
	}
	m.sum.Clips++
	m.sum.Frames += len(c.Pictures)
	for _, p := range c.Pictures {
		m.sum.Bytes += int64(len(p))
	}
	if c.Complaint == "" {
		return nil
	}
	m.sum.Damaged++
	return m.problems.add(Problem{Clip: c.Record.Clip, Cause: c.Complaint, Kept: true})
}
