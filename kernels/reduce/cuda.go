//go:build cuda

package reduce

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"nmn/cuda"
	"nmn/cuda/nccl"
	"nmn/kernels/tensor"
	"nmn/ranks"
)

// CUDA makes Reducers of a graphics card that sum over NCCL. The first of them joins the ranks of a group,
// which stay joined until Close.
type CUDA struct {
	device  *tensor.CUDA
	kernels packKernels
	logger  *slog.Logger
	comm    *nccl.Comm  // communicator of the group; nil for none yet
	group   ranks.Group // that comm has joined
	missing bool        // NCCL is not there on all ranks
}

var _ Summer = (*CUDA)(nil)

// NewCUDA makes the family on a graphics card with the kernels of a module. The logger may be nil.
func NewCUDA(device *tensor.CUDA, module *cuda.Module, logger *slog.Logger) (*CUDA, error) {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	c := &CUDA{device: device, logger: logger}
	return c, tensor.FindKernels("reduce", module, &c.kernels)
}

// NewReducer implements Summer. If one rank has no NCCL, no rank uses it, which is logged once.
func (c *CUDA) NewReducer(g ranks.Group, buckets [][]*tensor.Tensor, wire ranks.Wire) (Reducer, error) {
	if g.Size() == 1 {
		return alone{}, nil
	}
	if err := c.join(g); err != nil || c.missing {
		return nil, err
	}
	r := &card{family: c, comm: c.comm}
	err := r.open(buckets, wire)
	if agreed := ranks.Agree(g, err); agreed != nil { // the others are not to begin sums that this rank does not
		return nil, errors.Join(agreed, r.Close())
	}
	return r, nil
}

// join joins the ranks of a group on their cards, or finds that NCCL is missing on one of them.
func (c *CUDA) join(g ranks.Group) error {
	if c.comm != nil && c.group == g {
		return c.comm.Err()
	}
	if err := c.Close(); err != nil {
		return err
	}
	there, err := c.everywhere(g)
	if err != nil || !there {
		c.missing = !there
		return err
	}
	var id nccl.ID
	if g.Rank() == 0 {
		id, err = nccl.NewID()
	}
	if err := errors.Join(ranks.Agree(g, err), g.Broadcast(id[:])); err != nil {
		return err
	}
	c.comm, err = nccl.Join(c.device.Device, id, g.Rank(), g.Size(), nccl.Options{
		Timeout: patience(g), Name: g.Names()[g.Rank()], Failed: g.Abort,
	})
	c.group = g
	return ranks.Agree(g, err)
}

// patience is how long a sum waits for the other ranks: as long as the group does.
func patience(g ranks.Group) time.Duration {
	return cmp.Or(g.Timeout(), nccl.Forever)
}

// everywhere reports whether NCCL can be opened on all ranks.
func (c *CUDA) everywhere(g ranks.Group) (bool, error) {
	var own string
	if err := nccl.Open(); err != nil {
		own = err.Error()
	}
	all, err := g.Gather([]byte(own))
	if err != nil {
		return false, err
	}
	for rank, theirs := range all {
		if len(theirs) > 0 {
			if rank == g.Rank() || g.Rank() == 0 {
				c.logger.Warn("gradients are summed by way of the hosts, which is slow: there is no NCCL", "rank", rank,
					"process", g.Names()[rank], "cause", strings.TrimPrefix(string(theirs), "nccl: "))
			}
			return false, nil
		}
	}
	return true, nil
}

// Close leaves the ranks. Reducers must be closed before.
func (c *CUDA) Close() error {
	comm := c.comm
	c.comm, c.group = nil, nil
	if comm == nil {
		return nil
	}
	return comm.Close()
}

// alone is the Reducer of a single rank.
type alone struct{}

func (alone) Begin(int) error { return nil }
func (alone) Wait() error     { return nil }
func (alone) Close() error    { return nil }

// card is the Reducer of a graphics card. A bucket is summed on NCCL's stream, which waits for the
// computation of its tensors and runs in parallel with the computation of the next. Work enqueued after Wait
// waits for it. None of it is part of a graph.
type card struct {
	family      *CUDA
	comm        *nccl.Comm
	buckets     []packed
	ready, done *cuda.Event
}

// open makes the streams and buffers of the buckets.
func (r *card) open(buckets [][]*tensor.Tensor, wire ranks.Wire) (err error) {
	device := r.family.device
	for _, tensors := range buckets {
		p, err := r.family.pack(tensors, wire)
		r.buckets = append(r.buckets, p)
		if err != nil {
			return err
		}
	}
	if r.ready, err = device.Device.NewEvent(false); err == nil {
		r.done, err = device.Device.NewEvent(false)
	}
	return err
}

func (r *card) Begin(bucket int) error {
	compute := r.family.device.Stream
	if bucket < 0 || bucket >= len(r.buckets) {
		return fmt.Errorf("reduce: bucket %d of %d", bucket, len(r.buckets))
	}
	if compute.Capturing() {
		return errors.New("reduce: sums over ranks are no part of a graph, and one is being captured")
	}
	b := &r.buckets[bucket]
	if err := compute.Record(r.ready); err != nil {
		return err
	}
	if err := r.comm.Stream().Wait(r.ready); err != nil {
		return err
	}
	if err := r.family.move(r.comm.Stream(), b, into); err != nil {
		return err
	}
	if err := r.comm.AllReduce(b.spans, b.kind); err != nil {
		return err
	}
	return r.family.move(r.comm.Stream(), b, outOf)
}

func (r *card) Wait() error {
	if err := r.comm.Stream().Record(r.done); err != nil {
		return err
	}
	if err := r.family.device.Stream.Wait(r.done); err != nil {
		return err
	}
	return r.comm.Err()
}

// Close implements Reducer. It waits for the sums.
func (r *card) Close() error {
	err := r.comm.Stream().Sync()
	if r.comm.Err() != nil {
		err = nil // it was reported, and the work under way has ended
	}
	for i := range r.buckets {
		err = errors.Join(err, r.family.unpack(&r.buckets[i]))
	}
	for _, e := range []*cuda.Event{r.ready, r.done} {
		if e != nil {
			err = errors.Join(err, e.Close())
		}
	}
	r.buckets, r.ready, r.done = nil, nil, nil
	return err
}
