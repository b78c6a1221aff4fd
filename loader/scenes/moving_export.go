package scenes

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"runtime"

	"nmn/internal/parallel"
	"nmn/loader"
	"nmn/loader/picture"
	"nmn/loader/shard"
	"nmn/text"
)

// WriteMoving writes a split of the moving scenes as a folder of frames: shards with their index, as nmn frames writes
// them, and LabelsName with the five captions and the true content of each clip. Next to them it writes the words in
// vocabularyName and the true content again in truthName. The labels are written last.
// StreamClips reads the folder, and returns the labels, counts, captions and truth of MakeMoving; pictures differ by
// the loss of JPEG.
func WriteMoving(ctx context.Context, config MovingConfig, frames shard.Config, folder string) error {
	set, err := MakeMoving(config)
	if err != nil {
		return err
	}
	if err := writeTruth(folder, set, set.IDs); err != nil {
		return err
	}
	if err := writeMovingFrames(ctx, config, frames, folder); err != nil {
		return fmt.Errorf("moving scenes: %w", err)
	}
	streams := newMovingStreams(config)
	form := loader.ClipLabelsForm{CaptionsPerSample: CaptionsPerPicture, Truth: true}
	return loader.WriteClipLabels(filepath.Join(folder, loader.LabelsName), form,
		func(yield func(loader.ClipLabel, error) bool) {
			for i := range config.N {
				if !yield(streams.label(i, set.Vocabulary), ctx.Err()) {
					return
				}
			}
		})
}

// label returns the simulated annotators' description of a clip, and its true content.
func (s *movingStreams) label(i int, vocabulary *text.Vocabulary) loader.ClipLabel {
	frames := s.clip(i).all()
	label := loader.ClipLabel{Clip: s.id(i)}
	for _, caption := range s.captions(i, frames) {
		label.Captions = append(label.Captions, caption.String())
	}
	var truth [classCount]uint8
	for t := range frames {
		frames[t].truth(truth[:])
	}
	for k, y := range truth {
		if y == 1 {
			label.Truth = append(label.Truth, vocabulary.Word(k).Text)
		}
	}
	return label
}

// writeMovingFrames paints clips side by side, some at a time, and writes them in order.
func writeMovingFrames(ctx context.Context, config MovingConfig, frames shard.Config, folder string) (err error) {
	w, err := shard.Create(folder, frames)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, w.Close()) }()
	config.Cache = false
	streams, source := newMovingStreams(config), newMovingFrames(config)
	clips := make([][][]byte, 16*runtime.GOMAXPROCS(0))
	for from := 0; from < config.N; from += len(clips) {
		part := clips[:min(len(clips), config.N-from)]
		err := parallel.Try(ctx, len(part), 0, func(i int) (err error) {
			part[i], err = encodeClip(ctx, source, from+i)
			return err
		})
		if err != nil {
			return err
		}
		for i, pictures := range part {
			if err := w.Add(movingRecord(streams.id(from+i), len(pictures)), pictures); err != nil {
				return err
			}
		}
	}
	return w.Finish()
}

// movingRate is the nominal number of frames per second of a clip of the moving scenes.
const movingRate = 25

func movingRecord(id string, frames int) *shard.Record {
	r := &shard.Record{
		Clip:          id,
		Width:         pictureSize,
		Height:        pictureSize,
		PictureWidth:  pictureSize,
		PictureHeight: pictureSize,
		Decoded:       frames,
		FrameRate:     movingRate,
		Frames:        make([]shard.Frame, frames),
	}
	for t := range r.Frames {
		r.Frames[t] = shard.Frame{Number: t, Time: shard.Seconds(float64(t) / movingRate)}
	}
	return r
}

// encodeClip makes JPEG files of the frames of a bag.
func encodeClip(ctx context.Context, source loader.Source, bag int) ([][]byte, error) {
	pictures := make([][]byte, source.Frames(bag))
	var pic picture.Picture
	for t := range pictures {
		err := source.Read(ctx, bag, t, &pic)
		if err == nil {
			pictures[t], err = pic.EncodeJPEG(jpegQuality)
		}
		if err != nil {
			return nil, fmt.Errorf("clip %d, frame %d: %w", bag, t, err)
		}
	}
	return pictures, nil
}
