package captioner

// Source is the training data of a captioner: clips with the features of their frames, and with captions. It
// serves one goroutine at a time, and always returns equal data for a clip.
type Source interface {
	// Clips is the number of clips.
	Clips() int
	// ID names a clip in messages and results.
	ID(clip int) string
	// Frames is the largest number of frames of a clip, Width the number of features of a frame.
	Frames() int
	Width() int
	// Features writes Frames()×Width() features of a clip into dst, frame by frame. Missing frames come last
	// and are 0.
	Features(clip int, dst []float32) error
	// Captions are the word ids of a clip's captions, without BOS and EOS; the caller leaves them as they
	// are. A clip may have none.
	Captions(clip int) [][]int32
}

// Ragged is a Source with a number of frames for each clip. In any other Source all frames count, zeros too.
type Ragged interface {
	Source
	// FrameCount is the number of frames of a clip, 1 to Frames().
	FrameCount(clip int) int
}

// frameCount is the number of frames of a clip of any source.
func frameCount(s Source, clip int) int {
	if ragged, ok := s.(Ragged); ok {
		return ragged.FrameCount(clip)
	}
	return s.Frames()
}
