package loader

import (
	"context"
	"nmn/loader/picture"
)

// Thumbnailer makes small pictures of the frames of bags. It keeps its memory from one to the next, and is for
// one goroutine.
type Thumbnailer struct {
	frame    picture.Picture
	shrinker picture.Shrinker
}

// Middle returns the thumbnail of the middle frame of a bag.
func (t *Thumbnailer) Middle(ctx context.Context, s Source, bag int) (picture.Thumbnail, error) {
	return t.Frame(ctx, s, bag, s.Frames(bag)/2)
}

// Frame returns the thumbnail of a frame, upright for display; errors come from its source.
func (t *Thumbnailer) Frame(ctx context.Context, s Source, bag, frame int) (picture.Thumbnail, error) {
	t.frame.Orientation = picture.OrientationApply
	if err := s.Read(ctx, bag, frame, &t.frame); err != nil {
		return picture.Thumbnail{}, err
	}
	return t.shrinker.Shrink(&t.frame)
}
