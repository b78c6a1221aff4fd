package shard

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
)

// Bounds of what an index may say. A line of maxFrames frames fits maxLine.
const (
	maxFrames   = 10_000   // most frames of a clip
	MaxPicture  = 64 << 20 // bytes of a frame
	maxSide     = 1 << 16  // pixels
	maxLine     = 2 << 20  // bytes of a line of the index
	maxPosition = 1 << 56  // bytes into a shard
)

// Record describes the frames of one clip and their location.
type Record struct {
	// Clip is the name under which the clip was found, with slashes, and Key what Key makes of it.
	Clip string `json:"clip"`
	Key  string `json:"key,omitempty"`
	// Shard is the file that holds the frames.
	Shard string `json:"shard,omitempty"`
	// Width and Height are the size of the clip's frames in pixels as displayed, after rotation. The stored
	// pictures may be smaller.
	Width         int `json:"width"`
	Height        int `json:"height"`
	PictureWidth  int `json:"picture_width"`
	PictureHeight int `json:"picture_height"`
	// Decoded is the number of frames of the clip, counted by decoding them all.
	Decoded int `json:"decoded"`
	// FrameRate is the number of frames per second in the file's header; 0 if it has none.
	FrameRate float64 `json:"rate,omitempty"`
	// SourceBytes is the size of the clip's file.
	SourceBytes int64   `json:"source_bytes"`
	Frames      []Frame `json:"frames"`
}

// Frame is one picture.
type Frame struct {
	// Number is its place among the decoded frames of the clip, from 0.
	Number int `json:"frame"`
	// Time is the presentation time, in seconds on the clip's own clock; NaN, in JSON null, if the file has
	// none.
	Time Seconds `json:"time"`
	// Offset is the position of its bytes in the shard.
	Offset int64 `json:"offset,omitempty"`
	// Size is its number of bytes.
	Size int64 `json:"size"`
}

// Seconds is a time that may be unknown: NaN.
type Seconds float64

// MarshalJSON writes an unknown time as null.
func (s Seconds) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(s)) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(s))
}

// UnmarshalJSON reads null as an unknown time.
func (s *Seconds) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		*s = Seconds(math.NaN())
		return nil
	}
	v, err := strconv.ParseFloat(string(text), 64)
	*s = Seconds(v)
	return err
}

func (s Seconds) equal(t Seconds) bool { return s == t || s != s && t != t }

// Equal reports whether two records say the same.
func (r *Record) Equal(o *Record) bool {
	return r.Clip == o.Clip && r.Key == o.Key && r.Shard == o.Shard && r.Width == o.Width && r.Height == o.Height &&
		r.PictureWidth == o.PictureWidth && r.PictureHeight == o.PictureHeight && r.Decoded == o.Decoded &&
		r.FrameRate == o.FrameRate && r.SourceBytes == o.SourceBytes &&
		slices.EqualFunc(r.Frames, o.Frames, func(a, b Frame) bool {
			return a.Number == b.Number && a.Time.equal(b.Time) && a.Offset == b.Offset && a.Size == b.Size
		})
}

// check returns which field of a record is invalid.
func (r *Record) check() error {
	if err := r.checkClip(); err != nil {
		return err
	}
	if !isShard(r.Shard) {
		return faultf("the clip %.200q is in the shard %.80q, want a name as %s", r.Clip, r.Shard, shardName(0))
	}
	end := int64(tarBlock)
	for i, f := range r.Frames {
		if f.Offset < end || f.Offset%tarBlock != 0 || f.Offset > maxPosition {
			return faultf("clip %.200q, frame %d of %d: it begins at byte %d, want a multiple of %d from %d on", r.Clip, i,
				len(r.Frames), f.Offset, tarBlock, end)
		}
		end = f.Offset + f.Size
	}
	return nil
}

// checkClip is check without the place of the frames.
func (r *Record) checkClip() error {
	if err := CheckName(r.Clip); err != nil {
		return err
	}
	if r.Key != Key(r.Clip) {
		return faultf("the clip %.200q has the key %.200q, want %.200q", r.Clip, r.Key, Key(r.Clip))
	}
	if err := r.checkSizes(); err != nil {
		return err
	}
	next := 0
	for i, f := range r.Frames {
		if err := f.check(next, r.Decoded); err != nil {
			return faultf("clip %.200q, frame %d of %d: %v", r.Clip, i, len(r.Frames), err)
		}
		next = f.Number + 1
	}
	return nil
}

func (r *Record) checkSizes() error {
	for _, side := range []int{r.Width, r.Height, r.PictureWidth, r.PictureHeight} {
		if side < 1 || side > maxSide {
			return faultf("the clip %.200q has %d×%d pixels and pictures of %d×%d",
				r.Clip, r.Width, r.Height, r.PictureWidth, r.PictureHeight)
		}
	}
	switch {
	case len(r.Frames) == 0 || len(r.Frames) > maxFrames:
		return faultf("the clip %.200q has %d frames, want 1 to %d", r.Clip, len(r.Frames), maxFrames)
	case !(r.FrameRate >= 0) || math.IsInf(r.FrameRate, 0):
		return faultf("the clip %.200q has %v frames per second", r.Clip, r.FrameRate)
	case r.SourceBytes < 0:
		return faultf("the clip %.200q has %d bytes", r.Clip, r.SourceBytes)
	}
	return nil
}

// check gets the least number that the frame may have, and how many frames the clip has.
func (f Frame) check(next, decoded int) error {
	switch {
	case f.Number < next || f.Number >= decoded:
		return faultf("its number in the clip is %d, want %d to %d", f.Number, next, decoded-1)
	case math.IsInf(float64(f.Time), 0):
		return faultf("its time is %v s", f.Time)
	case f.Size < 1 || f.Size > MaxPicture:
		return faultf("it has %d bytes, want 1 to %d", f.Size, MaxPicture)
	}
	return nil
}
