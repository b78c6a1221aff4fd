package run

import (
	"context"

	"nmn/model"
	"nmn/train"
)

// Workload is what a step of training computes.
type Workload struct {
	Parameters int     // of the classifier
	Noise      int     // parameters of the noise model
	Pictures   int     // mean of a step with a full batch, or with all bags if there are fewer
	FLOP       float64 // of a step
	// Chunks are what maps and gradients of a batch of the longest videos take, whole and then in chunks of half as
	// many frames each time; none of pictures.
	Chunks []Chunk
}

// Chunk is a number of frames that go through a net together.
type Chunk struct {
	Frames int
	Bytes  int // of maps and gradients
}

// Workload counts what a training step of a net computes when it learns as an arm does.
func (s *Session) Workload(ctx context.Context, c *Config, arm train.Arm, net *model.Net) (w Workload, err error) {
	census, err := s.Data.Train.Census(ctx)
	if err != nil {
		return w, err
	}
	w.Parameters, w.Noise = net.Config().Parameters()
	w.Pictures = min(c.Train.Batch(arm.MIL)*c.Train.Accumulate, census.Bags) * census.Frames / census.Bags
	for _, l := range net.Layers() {
		w.FLOP += l.TrainFLOP * float64(w.Pictures)
	}
	w.Chunks = chunks(net, c.Train.Batch(net.Config().MIL), census.Longest)
	return w, nil
}

// chunks returns chunks of the given number of the longest videos, down to an eighth of the frames.
func chunks(net *model.Net, bags, longest int) (all []Chunk) {
	if longest < 2 {
		return nil
	}
	frames := longest * bags
	add := func(chunk int) { all = append(all, Chunk{chunk, net.ChunkBytes(frames, bags, chunk, true)}) }
	add(frames)
	for chunk := (frames + 1) / 2; chunk > 0 && chunk >= frames/8; chunk /= 2 {
		add(chunk)
	}
	return all
}
