package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"golang.org/x/sync/errgroup"

	"nmn/loader"
	"nmn/loader/dataset"
	"nmn/loader/frames"
	"nmn/train"
)

// scoreClips scores the clips that paths name, as the model has learned them: frames of videos are taken as those that
// it was trained on, and clips are joined as in training.
func (m *Model) scoreClips(ctx context.Context, paths []string, o *PredictOptions) (p *Predictions,
	scores *train.Scores, err error) {
	clips, err := m.findClips(ctx, paths, &o.Reading, o.FFmpeg)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, clips.close()) }()
	set, err := m.throughBackbone(ctx, clips.set, &o.Reading)
	if err != nil {
		return nil, nil, err
	}
	reading := *o
	if set.ByFrame = m.checkpoint.Clips.ByFrame; !set.ByFrame {
		reading.Batch = clips.batch(o.Batch)
	}
	if p, scores, err = m.score(ctx, set, &reading); err != nil {
		return nil, nil, err
	}
	p.names, p.Skipped, p.Clips = clips.names, clips.skipped, true
	return p, scores, nil
}

type foundClips struct {
	set            *loader.Set
	names, skipped []string
	close          func() error // removes the frames of videos
}

// batch returns how many clips have about as many frames as a batch has pictures.
func (c *foundClips) batch(pictures int) int { return max(1, pictures/c.set.LongestBag()) }

// findClips finds clips, and takes the frames of videos.
func (m *Model) findClips(ctx context.Context, paths []string, r *Reading, ffmpeg string) (_ *foundClips, err error) {
	if err := r.refuseImages(); err != nil {
		return nil, err
	}
	clips, err := dataset.FindClips(ctx, paths)
	if err != nil {
		return nil, err
	}
	found := &foundClips{close: clips.Close}
	defer func() {
		if err != nil {
			err = errors.Join(err, found.close())
		}
	}()
	from, to, err := r.Shard.Range(len(clips.Clips), "clips")
	if err != nil {
		return nil, err
	}
	found.names, found.skipped = r.pictureNames(paths, clips.Paths())[from:to], clips.Skipped
	clips.Clips = clips.Clips[from:to]
	remove, err := m.takeFrames(ctx, clips, ffmpeg)
	if err != nil {
		return nil, err
	}
	found.close = func() error { return errors.Join(clips.Close(), remove()) }
	r.skipped(clips.Skipped)
	found.set = clips.Set(m.vocabulary, r.MaxPixels)
	return found, nil
}

// takeFrames takes the frames of videos into a folder, which remove removes. What cannot be read of a clip is noted
// there.
func (m *Model) takeFrames(ctx context.Context, clips *dataset.ClipPaths, ffmpeg string) (remove func() error,
	err error) {
	var videos []*dataset.ClipPath
	for i := range clips.Clips {
		if clips.Clips[i].Video != "" {
			videos = append(videos, &clips.Clips[i])
		}
	}
	if len(videos) == 0 {
		return func() error { return nil }, nil
	}
	tool, err := frames.Find(ctx, ffmpeg)
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "nmn-frames-")
	if err != nil {
		return nil, fmt.Errorf("cannot keep the frames of clips: %w", err)
	}
	remove = func() error { return os.RemoveAll(folder) }
	workers, working := errgroup.WithContext(ctx)
	workers.SetLimit(runtime.GOMAXPROCS(0))
	for i, clip := range videos {
		workers.Go(func() error {
			return m.takeFramesOf(working, tool, clip, filepath.Join(folder, fmt.Sprint(i)))
		})
	}
	if err := workers.Wait(); err != nil {
		return nil, errors.Join(err, remove())
	}
	return remove, nil
}

func (m *Model) takeFramesOf(ctx context.Context, tool *frames.FFmpeg, clip *dataset.ClipPath, folder string) error {
	learned, c := m.checkpoint.Clips, frames.DefaultConfig()
	c.Frames, c.Size = learned.Frames, learned.Size
	if learned.Quality > 0 {
		c.Quality = learned.Quality
	}
	taken, err := tool.Extract(ctx, frames.Source{Name: clip.Video, Path: clip.Video}, c)
	switch {
	case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
		clip.Err = fmt.Errorf("%w; nmn frames gives it more, and its folder takes the place of the video", err)
		return nil
	case errors.Is(err, frames.ErrClip):
		clip.Err = err
		return nil
	case err != nil:
		return fmt.Errorf("%s: %w", clip.Video, err)
	case taken.Complaint != "":
		m.session.Log.Warn("a clip is damaged, and what can be decoded is used", "clip", clip.Video, "ffmpeg",
			taken.Complaint)
	}
	if err := os.Mkdir(folder, 0o700); err != nil {
		return fmt.Errorf("cannot keep the frames of %s: %w", clip.Video, err)
	}
	for i, picture := range taken.Pictures {
		file := filepath.Join(folder, fmt.Sprintf("%04d.jpg", i))
		if err := os.WriteFile(file, picture, 0o600); err != nil {
			return fmt.Errorf("cannot keep the frames of %s: %w", clip.Video, err)
		}
		clip.Frames = append(clip.Frames, file)
	}
	return nil
}
