package run

import (
	"cmp"

	"nmn/loader"
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
	Groups []train.Group // of parameters that learn alike

	bags   int // of the training set
	memory int // bytes of net, optimizer and a batch
	net    model.Config
}

// Chunk is a number of frames that go through a net together.
type Chunk struct {
	Frames int
	Bytes  int // of maps and gradients
}

func newWorkload(c *train.Config, arm train.Arm, net *model.Net, census *loader.Census) (w *Workload, err error) {
	batch, bags := c.Batch(arm.MIL), census.Bags
	w = &Workload{Pictures: min(batch*c.Accumulate, bags) * census.Frames / bags, bags: bags, net: net.Config(),
		Chunks: chunks(net, batch, census.Longest), memory: net.Bytes() + c.StateBytes(net) +
			stepBytes(net, min(batch, bags), census.Longest, c.ChunkFrames)}
	w.Parameters, w.Noise = w.net.Parameters()
	for _, l := range net.Layers() {
		w.FLOP += l.TrainFLOP * float64(w.Pictures)
	}
	w.Groups, err = train.Groups(*c, net.Params())
	return w, err
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

// stepBytes is what maps and gradients of a batch of the longest videos take. At most chunk frames go through the net
// together, 0 for all.
func stepBytes(net *model.Net, bags, longest, chunk int) int {
	frames := bags * max(longest, 1)
	return net.ChunkBytes(frames, bags, min(cmp.Or(chunk, frames), frames), true)
}
