package train

import "nmn/loader"

// onlineParts join the scores of a batch of which every rank has scored a part.
type onlineParts struct {
	exchange
	order     *loader.Order
	batches   int
	eachRates bool // each bag has rates of its own

	rows map[int]row // by bag
	all  loader.Batch
	of   [][]float32 // results of all
}

// row is where the scores of a bag are.
type row struct{ rank, number int }

// join returns the batch with the bags of all ranks, in the order of the epoch, and its results. They hold until the
// next call. failure is what went wrong on this rank.
func (p *onlineParts) join(batch *loader.Batch, values [][]float32, failure error) (*loader.Batch, [][]float32, error) {
	own := message{round: batch.Number, batches: p.batches}
	if batch.N > 0 {
		own.bags, own.ids = batch.Index, batch.IDs
	}
	if err := p.tell(&own, values, failure); err != nil {
		return batch, nil, err
	}
	if p.rows == nil {
		p.rows = map[int]row{}
	}
	clear(p.rows)
	parts := make([][][]float32, len(p.heard))
	for rank := range p.heard {
		m := &p.heard[rank]
		parts[rank] = new(shared).values(m)
		for i, bag := range m.bags {
			p.rows[bag] = row{rank, i}
		}
	}
	p.all = loader.Batch{Number: batch.Number, Index: p.all.Index[:0], IDs: p.all.IDs[:0]}
	for i := range p.of {
		p.of[i] = p.of[i][:0]
	}
	for _, bag := range p.order.Batch(batch.Number) {
		if r, scored := p.rows[bag]; scored {
			p.take(bag, r.number, &p.heard[r.rank], parts[r.rank])
		}
	}
	return &p.all, p.of, nil
}

// take adds the row of a bag, of the results of a rank.
func (p *onlineParts) take(bag, row int, of *message, results [][]float32) {
	if len(p.of) < len(results) {
		p.of = make([][]float32, len(results))
	}
	for i, values := range results {
		switch {
		case i == 0 || p.eachRates:
			width := len(values) / len(of.bags)
			p.of[i] = append(p.of[i], values[row*width:(row+1)*width]...)
		case p.all.N == 0: // the rates are those of all bags
			p.of[i] = append(p.of[i], values...)
		}
	}
	p.all.N++
	p.all.Index, p.all.IDs = append(p.all.Index, bag), append(p.all.IDs, of.ids[row])
}
