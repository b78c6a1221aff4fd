//go:build cuda

package update

import (
	"fmt"
	"math"
	"slices"
	"unsafe"

	"nmn/cuda"
	"nmn/kernels/simd"
	"nmn/kernels/tensor"
)

// CUDA implements Ops on a graphics card in float32, in one launch for all parameters. The list of parameters
// lies in device memory and is uploaded when it differs from the previous call's.
type CUDA struct {
	device *tensor.CUDA
	sgd    sgdKernels
	adam   adamKernels
	norm   normKernels
	mean   averageKernels

	table     tensor.Workspace // of tableRoom entries: it never moves, for captured launches name it
	sent      []tableEntry     // contents of the table
	next      []tableEntry     // list of the call; kept to reuse its memory
	chunks    int
	constants tensor.Workspace // holds one adamConstants
	sentAdam  adamConstants
	nextAdam  []adamConstants // constants of the call, one; its own memory, because C may read it

	partial tensor.Workspace // float64 sum of squares of each chunk
	ticket  tensor.Workspace // one uint32, 0 between launches
}

var _ Ops = (*CUDA)(nil)

// tableEntry is Entry of entry.cuh.
type tableEntry struct {
	w, g, m, v, copy, average cuda.Address
	length                    int64
	firstChunk                uint32
	_                         uint32
	rate, decay               float32
}

// tableRoom is the number of parameters that a list may have.
const tableRoom = 4096

// The constants of entry.cuh.
const (
	chunkLength  = 16384
	chunkThreads = 256
)

// NewCUDA makes the family on a graphics card with the kernels of a module.
func NewCUDA(device *tensor.CUDA, module *cuda.Module) (*CUDA, error) {
	c := &CUDA{device: device, nextAdam: make([]adamConstants, 1)}
	return c, tensor.FindKernels("update", module, &c.sgd, &c.adam, &c.norm, &c.mean)
}

// list checks the entries and brings the table up to date with them. It returns the table's address
// and the number of chunks.
func (c *CUDA) list(operation string, entries []Entry, use Use) (table cuda.Address, err error) {
	if err := Fit(operation, entries, use); err != nil {
		return 0, err
	}
	c.next, c.chunks = c.next[:0], 0
	for i := range entries {
		e := &entries[i]
		if e.LR == 0 || e.G.Len() == 0 {
			continue
		}
		if err := tensor.OnDevice(operation, tensor.Float32, e.W, e.G, e.M, e.V, e.Average); err != nil {
			return 0, fmt.Errorf("entry %d: %w", i, err)
		}
		if err := tensor.OnDevice(operation, tensor.BFloat16, e.Copy); err != nil {
			return 0, fmt.Errorf("entry %d: %w", i, err)
		}
		c.next = append(c.next, tableEntry{
			w: tensor.At(e.W), g: tensor.At(e.G), m: tensor.At(e.M), v: tensor.At(e.V), copy: tensor.At(e.Copy),
			average: tensor.At(e.Average),
			length:  int64(e.G.Len()), firstChunk: uint32(c.chunks), rate: e.LR, decay: e.Decay,
		})
		c.chunks += tensor.Ceil(e.G.Len(), chunkLength)
	}
	if c.chunks > math.MaxInt32 || len(c.next) > tableRoom {
		return 0, tensor.Misfit(operation, "%d parameters in %d chunks are more than a launch can have", len(c.next),
			c.chunks)
	}
	return c.upload(operation)
}

// upload sends the table if it has changed.
func (c *CUDA) upload(operation string) (cuda.Address, error) {
	if len(c.next) == 0 {
		return 0, nil
	}
	table, err := c.table.Reserve(c.device, tableRoom*int(unsafe.Sizeof(tableEntry{})))
	if err != nil || slices.Equal(c.next, c.sent) {
		return table, err
	}
	c.sent = c.sent[:0] // unknown until the upload has succeeded
	if err := c.device.Stream.Upload(table, bytesOf(c.next)); err != nil {
		return 0, fmt.Errorf("%s: the list of parameters: %w", operation, err)
	}
	c.sent = append(c.sent, c.next...)
	return table, nil
}

// Prepare uploads the inputs of a captured update: rates, decays and the constants of Adam. It does no work
// on the parameters. For SGD p is the zero value.
func (c *CUDA) Prepare(entries []Entry, p AdamParams) error {
	if _, err := c.list("prepare an update", entries, UseG|UseW); err != nil || p == (AdamParams{}) {
		return err
	}
	_, err := c.prepareAdam(p)
	return err
}

func bytesOf[T tableEntry | adamConstants](list []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(list))), len(list)*int(unsafe.Sizeof(list[0])))
}

// launch enqueues a kernel on all parameters: a block for each chunk.
func launch[A any](c *CUDA, k *cuda.Kernel[A], a A) error {
	return k.Launch(c.device.Stream, cuda.Dim3{X: max(c.chunks, 1)}, cuda.Dim3{X: chunkThreads}, a)
}

func (c *CUDA) SGD(entries []Entry, momentum float32) error {
	table, err := c.list("sgd", entries, UseG|UseW|UseM)
	if err != nil || c.chunks == 0 {
		return err
	}
	return launch(c, &c.sgd.sgd, sgdArguments{entries: table, count: int32(len(c.next)), momentum: momentum})
}

func (c *CUDA) Adam(entries []Entry, p AdamParams) error {
	table, constants, err := c.listAdam("adam", entries, p)
	if err != nil || c.chunks == 0 {
		return err
	}
	return launch(c, &c.adam.adam, adamArguments{entries: table, count: int32(len(c.next)), constants: constants})
}

func (c *CUDA) AdamW(entries []Entry, p AdamParams) error {
	table, constants, err := c.listAdam("adamw", entries, p)
	if err != nil || c.chunks == 0 {
		return err
	}
	return launch(c, &c.adam.adamw, adamwArguments{entries: table, count: int32(len(c.next)), constants: constants})
}

// listAdam is list, with the constants of the step.
func (c *CUDA) listAdam(operation string, entries []Entry, p AdamParams) (table, constants cuda.Address, err error) {
	if err := fitAdam(p); err != nil {
		return 0, 0, err
	}
	table, err = c.list(operation, entries, UseG|UseW|UseM|UseV)
	if err != nil || c.chunks == 0 {
		return 0, 0, err
	}
	constants, err = c.prepareAdam(p)
	return table, constants, err
}

// adamConstants is Adam of adam.cu.
type adamConstants struct {
	beta1, rest1, beta2, rest2 float32
	correct1, correct2         float32
	epsilon                    float32
}

func newAdamConstants(s simd.AdamStep) adamConstants {
	return adamConstants{beta1: s.Beta1, rest1: s.Rest1, beta2: s.Beta2, rest2: s.Rest2,
		correct1: s.Correct1, correct2: s.Correct2, epsilon: s.Epsilon}
}

// prepareAdam uploads the constants of a step if they have changed.
func (c *CUDA) prepareAdam(p AdamParams) (cuda.Address, error) {
	if err := fitAdam(p); err != nil {
		return 0, err
	}
	next := newAdamConstants(p.constants())
	at, err := c.constants.Reserve(c.device, int(unsafe.Sizeof(next)))
	if err != nil || next == c.sentAdam {
		return at, err
	}
	c.sentAdam = adamConstants{}
	c.nextAdam[0] = next
	if err := c.device.Stream.Upload(at, bytesOf(c.nextAdam)); err != nil {
		return 0, fmt.Errorf("adam: the constants of the step: %w", err)
	}
	c.sentAdam = next
	return at, nil
}

func (c *CUDA) Average(entries []Entry, share float32) error {
	if err := fitShare(share); err != nil {
		return err
	}
	table, err := c.list("average", entries, UseG|UseW|UseAverage)
	if err != nil || c.chunks == 0 {
		return err
	}
	return launch(c, &c.mean.average, averageArguments{entries: table, count: int32(len(c.next)), share: share})
}

func (c *CUDA) Exchange(entries []Entry) error {
	table, err := c.list("exchange", entries, UseG|UseW|UseAverage)
	if err != nil || c.chunks == 0 {
		return err
	}
	return launch(c, &c.mean.exchange, exchangeArguments{entries: table, count: int32(len(c.next))})
}
