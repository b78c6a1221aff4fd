package train

import (
	"errors"
	"fmt"

	"nmn/kernels"
	"nmn/kernels/tensor"
	"nmn/model"

	dense "gorgonia.org/tensor"
)

// results gathers the values of a step that the host needs, the norm of its gradients and the losses of its
// bags, so that one download brings all.
type results struct {
	backend kernels.Backend
	memory  *tensor.Arena
	all     *tensor.Tensor // float32: the norm, then room for the losses of each batch
	norm    *tensor.Tensor // its first element
	host    *dense.Dense
	room    int                           // bags of a batch
	losses  map[batchPlace]*tensor.Tensor // views of all
	bags    []int                         // of the batches of the step
}

// batchPlace is a batch of a step and the number of its bags.
type batchPlace struct{ batch, bags int }

// newResults makes room for steps of this number of batches, each with at most this number of bags.
func newResults(backend kernels.Backend, batches, bags int) (*results, error) {
	r := &results{
		backend: backend,
		memory:  tensor.NewArena(backend),
		room:    bags,
		losses:  map[batchPlace]*tensor.Tensor{},
	}
	var err error
	if r.all, err = r.memory.Alloc(tensor.Float32, 1+batches*bags); err != nil {
		return nil, fmt.Errorf("training: cannot hold the results of a step: %w", err)
	}
	if r.norm, err = r.all.Rows(0, 1); err != nil {
		return nil, errors.Join(err, r.close())
	}
	r.host = model.Host(r.all.Len())
	return r, nil
}

// begin forgets the step before.
func (r *results) begin() { r.bags = r.bags[:0] }

// keep enqueues setting the losses of the step's next batch aside: the plan's are soon overwritten.
func (r *results) keep(plan *model.Plan) error {
	place := batchPlace{len(r.bags), plan.Bags}
	at, ok := r.losses[place]
	if !ok {
		first := 1 + place.batch*r.room
		var err error
		if at, err = r.all.Rows(first, first+place.bags); err != nil {
			return fmt.Errorf("the losses of batch %d: %w", place.batch+1, err)
		}
		r.losses[place] = at
	}
	r.bags = append(r.bags, plan.Bags)
	return r.backend.Copy(at, plan.Loss)
}

// wait waits for the step and returns the sum of the losses of its bags, in their order, and the norm of
// the gradients.
func (r *results) wait() (loss, norm float64, err error) {
	if err := r.backend.Download(r.host, r.all); err != nil {
		return 0, 0, err
	}
	values := r.host.Float32s()
	for batch, bags := range r.bags {
		sum := 0.0
		for _, v := range values[1+batch*r.room:][:bags] {
			sum += float64(v)
		}
		loss += sum
	}
	return loss, float64(values[0]), nil
}

func (r *results) close() error { return r.memory.Close() }
