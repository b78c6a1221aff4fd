package recurrent

import (
	"cmp"
	"math"

	"nmn/kernels/simd"
	"nmn/kernels/tensor"
)

// entropy is a softmax cross-entropy in progress. Logits are stored word by word, with rows next to each
// other: the weights of a word are read in place, the rows are packed once, and the softmax works on whole
// vectors of rows. Rows without a target are left out of everything.
//
// The vocabulary is cut into blocks. The first pass finds the largest logit of each row and the sum of
// exponentials for each block. The second pass turns the logits into their gradients and adds their
// contributions to w, b and h. It reuses as many blocks of logits from the first pass as fit in memory, and
// computes the others again. It runs over groups of neighbouring blocks. Each group sums its own dh, and then
// these are added in their order.
type entropy struct {
	Lookup
	loss, dh, dw, db, h, w, b []float32
	targets                   []int32
	scale                     float32

	rows    []int32 // rows with a target
	lanes   int     // the number of rows, rounded up to a tile's width
	columns int     // D and a column of ones, whose products are db, rounded up
	words   int     // of a block
	blocks  int
	groups  int
	compact []float32 // the rows, side by side
	byRow   []float32 // panels of rows: panel[d·width + j] = h[row j][d]
	byWord  []float32 // panels of columns: panel[r·width + j] = h[r][column j]
	tops    []float32 // blocks × lanes: largest logit of each row in a block
	sums    []float32 // blocks × lanes: sum of exp(logit - top)
	top     []float32 // lanes: the largest logit
	factor  []float32 // lanes: scale / sum over all words of exp(logit - top); 0 after the last row
	logNorm []float64 // rows: log of that sum
	target  []float32 // rows: the logit of the target
	partial []float32 // groups × lanes × columns: dh of each group
	kept    []float32 // blocks × words × lanes: logits of the first blocks

	weightRows, lastRows  []int // offsets of words in the weights of a block, and of the last block
	logitRows, turnedRows []int // offsets of words in logits, and of rows in turned logits
}

// Sizes in floats of data that should stay in the second-level cache, and the number of groups.
const (
	logitFloats   = 64 << 10
	weightFloats  = 128 << 10
	entropyGroups = 24
)

// keptFloats is the number of logits kept for the gradients: 64 MiB of them.
const keptFloats = 16 << 20

func (c *CPU) CrossEntropy(loss, dh, dw, db, h, w, b, targets *tensor.Tensor, scale float32) error {
	const operation = "softmax cross-entropy"
	shape, err := FitCrossEntropy(loss, dh, dw, db, h, w, b, targets)
	if err != nil {
		return err
	}
	if err := cmp.Or(tensor.OnHost(operation, tensor.Float32, loss, dh, dw, db, h, w, b),
		tensor.OnHost(operation, tensor.Int32, targets)); err != nil {
		return err
	}
	if err := known(operation, targets.Int32s(), shape.V); err != nil {
		return err
	}
	e := &c.entropy
	e.Lookup, e.scale, e.targets = shape, scale, targets.Int32s()
	e.loss, e.dh, e.dw, e.db = loss.Float32s(), dh.Float32s(), dw.Float32s(), db.Float32s()
	e.h, e.w, e.b = h.Float32s(), w.Float32s(), b.Float32s()
	clear(e.loss)
	clear(e.dh)
	c.gatherRows()
	if len(e.rows) > 0 {
		c.computeEntropy()
	} else {
		clear(e.dw)
		clear(e.db)
	}
	e.loss, e.dh, e.dw, e.db, e.h, e.w, e.b, e.targets = nil, nil, nil, nil, nil, nil, nil, nil
	c.forget()
	return nil
}

// gatherRows puts the rows with a target side by side.
func (c *CPU) gatherRows() {
	e := &c.entropy
	e.rows = e.rows[:0]
	for m, target := range e.targets {
		if target >= 0 {
			e.rows = append(e.rows, int32(m))
		}
	}
	e.compact = tensor.Grow(e.compact, len(e.rows)*e.D)
	for i, m := range e.rows {
		copy(e.compact[i*e.D:(i+1)*e.D], e.h[int(m)*e.D:])
	}
}

func (c *CPU) computeEntropy() {
	e := &c.entropy
	c.planEntropy()
	c.workers.Run(e.lanes/c.width, c.tasks.packRows)
	c.workers.Run(e.blocks, c.tasks.losses)
	c.normalize()
	if e.dh == nil {
		return
	}
	c.workers.Run(e.columns/c.width, c.tasks.packColumns)
	c.workers.Run(e.groups, c.tasks.gradients)
	c.workers.Run(len(e.rows), c.tasks.join)
}

// planEntropy cuts the vocabulary and reserves memory. The cut depends on shapes alone.
func (c *CPU) planEntropy() {
	e := &c.entropy
	rows := len(e.rows)
	e.lanes, e.columns = tensor.CeilTo(rows, c.width), tensor.CeilTo(e.D+1, c.width)
	e.words = max(1, min(logitFloats/e.lanes, weightFloats/e.D)/c.rows) * c.rows
	e.blocks = tensor.Ceil(e.V, e.words)
	e.groups = min(e.blocks, entropyGroups)
	e.byRow, e.byWord = tensor.Grow(e.byRow, e.lanes*e.D), tensor.Grow(e.byWord, rows*e.columns)
	e.tops, e.sums = tensor.Grow(e.tops, e.blocks*e.lanes), tensor.Grow(e.sums, e.blocks*e.lanes)
	e.top, e.factor = tensor.Grow(e.top, e.lanes), tensor.Grow(e.factor, e.lanes)
	e.logNorm, e.target = tensor.Grow(e.logNorm, rows), tensor.Grow(e.target, rows)
	if e.dh != nil {
		e.partial = tensor.Grow(e.partial, e.groups*e.lanes*e.columns)
		block := e.words * e.lanes
		e.kept = tensor.Grow(e.kept, min(e.blocks, c.keep/block)*block)
	} else {
		e.kept = e.kept[:0]
	}
	e.weightRows = c.rowOffsets(e.weightRows, e.words, e.D)
	e.lastRows = c.rowOffsets(e.lastRows, e.V-(e.blocks-1)*e.words, e.D)
	e.logitRows, e.turnedRows = c.rowOffsets(e.logitRows, e.words, e.lanes), c.rowOffsets(e.turnedRows, rows, e.words)
	c.reserveSums(c.rows)
	for i := range c.scratch {
		s := &c.scratch[i]
		s.logits, s.turned = tensor.Grow(s.logits, e.words*e.lanes), tensor.Grow(s.turned, e.words*rows)
		s.strip = tensor.Grow(s.strip, e.words*c.width)
	}
}

// packRowsBlock packs a panel of rows.
func (c *CPU) packRowsBlock(_, index int) {
	e := &c.entropy
	first := index * c.width
	c.level.PackRows(e.byRow[first*e.D:], c.width, e.compact[first*e.D:], e.D, min(c.width, len(e.rows)-first), e.D)
}

// packColumnsBlock packs a panel of columns. The column after the last holds ones.
func (c *CPU) packColumnsBlock(_, index int) {
	e := &c.entropy
	rows, first := len(e.rows), index*c.width
	panel := e.byWord[index*c.width*rows:][:c.width*rows]
	valid := max(0, min(c.width, e.D-first))
	c.level.PackColumns(panel, c.width, e.compact[min(first, e.D):], e.D, rows, valid)
	if valid < c.width && first+valid == e.D {
		for r := range rows {
			panel[r*c.width+valid] = 1
		}
	}
}

// vocabularyBlock is a range of words.
func (e *entropy) vocabularyBlock(block int) (lo, hi int) {
	return block * e.words, min((block+1)*e.words, e.V)
}

// logitsOf is the memory for the logits of a block, and reports whether they are kept there.
func (e *entropy) logitsOf(s *scratch, block int) (logits []float32, kept bool) {
	length := e.words * e.lanes
	if (block+1)*length <= len(e.kept) {
		return e.kept[block*length:][:length], true
	}
	return s.logits[:length], false
}

// blockLogits computes the logits of words lo to hi, without their biases.
func (c *CPU) blockLogits(s *scratch, logits []float32, lo, hi int) {
	e := &c.entropy
	offsets := e.weightRows
	if hi-lo < e.words {
		offsets = e.lastRows
	}
	t := &s.tile
	*t = simd.Tile{A: e.w[lo*e.D : hi*e.D], Taps: 1, Depth: e.D, DstStride: e.lanes}
	for lane := 0; lane < e.lanes; lane += c.width {
		t.Panel = e.byRow[lane*e.D:][:c.width*e.D]
		c.level.MultiplyRows(t, c.width, hi-lo, offsets, logits[lane:])
	}
}

// lossesBlock finds the largest logit and the sum of exponentials of each row in a block of words.
func (c *CPU) lossesBlock(worker, block int) {
	e, s := &c.entropy, &c.scratch[worker]
	lo, hi := e.vocabularyBlock(block)
	logits, _ := e.logitsOf(s, block)
	c.blockLogits(s, logits, lo, hi)
	top, sum := e.tops[block*e.lanes:][:e.lanes], e.sums[block*e.lanes:][:e.lanes]
	for lane := range top {
		top[lane] = float32(math.Inf(-1))
	}
	clear(sum)
	for word := lo; word < hi; word++ {
		c.level.Raise(top, logits[(word-lo)*e.lanes:], e.b[word])
	}
	for word := lo; word < hi; word++ {
		c.level.AddExp(sum, logits[(word-lo)*e.lanes:], top, e.b[word])
	}
	for r, m := range e.rows {
		if word := int(e.targets[m]); word >= lo && word < hi {
			e.target[r] = logits[(word-lo)*e.lanes+r] + e.b[word]
		}
	}
}

// normalize joins the results of the blocks, in their order.
func (c *CPU) normalize() {
	e := &c.entropy
	copy(e.top, e.tops)
	for block := 1; block < e.blocks; block++ {
		c.level.Raise(e.top, e.tops[block*e.lanes:], 0)
	}
	clear(e.factor)
	for r, m := range e.rows {
		sum := 0.0
		for at := r; at < e.blocks*e.lanes; at += e.lanes {
			sum += float64(e.sums[at]) * math.Exp(float64(e.tops[at]-e.top[r]))
		}
		e.logNorm[r] = math.Log(sum)
		e.factor[r] = float32(float64(e.scale) / sum)
		e.loss[m] = float32(e.logNorm[r] - float64(e.target[r]-e.top[r]))
	}
}

// gradientsBlock goes through the blocks of words of a group.
func (c *CPU) gradientsBlock(worker, group int) {
	e, s := &c.entropy, &c.scratch[worker]
	partial := e.partial[group*e.lanes*e.columns:][:e.lanes*e.columns]
	first, end := group*e.blocks/e.groups, (group+1)*e.blocks/e.groups
	for block := first; block < end; block++ {
		lo, hi := e.vocabularyBlock(block)
		logits, kept := e.logitsOf(s, block)
		if !kept {
			c.blockLogits(s, logits, lo, hi)
		}
		c.logitGradients(logits, lo, hi)
		c.weightGradients(s, logits, lo, hi)
		c.rowGradients(s, logits, partial, lo, hi, block > first)
	}
}

// logitGradients turns the logits of words lo to hi into their gradients. A target's gradient is computed
// from its own logit: if the probability is near 1, subtracting 1 from it would leave few digits.
func (c *CPU) logitGradients(logits []float32, lo, hi int) {
	e := &c.entropy
	for word := lo; word < hi; word++ {
		c.level.ScaledExp(logits[(word-lo)*e.lanes:][:e.lanes], e.top, e.factor, e.b[word])
	}
	for r, m := range e.rows {
		if word := int(e.targets[m]); word >= lo && word < hi {
			logits[(word-lo)*e.lanes+r] = e.scale * float32(math.Expm1(float64(e.target[r]-e.top[r])-e.logNorm[r]))
		}
	}
}

// weightGradients computes dw and db of words lo to hi.
func (c *CPU) weightGradients(s *scratch, logits []float32, lo, hi int) {
	e := &c.entropy
	rows := len(e.rows)
	t := &s.tile
	*t = simd.Tile{A: logits, Taps: 1, Depth: rows}
	for column := 0; column < e.columns; column += c.width {
		t.Panel = e.byWord[column*rows:][:c.width*rows]
		for word := lo; word < hi; word += c.rows {
			t.Rows, t.Offsets = min(c.rows, hi-word), e.logitRows[word-lo:]
			if column+c.width <= e.D {
				t.Dst, t.DstStride = e.dw[word*e.D+column:], e.D
				c.level.Multiply(t, c.width)
				continue
			}
			t.Dst, t.DstStride = s.sums, c.width
			c.level.Multiply(t, c.width)
			c.storeEdge(s, word, column, t.Rows)
		}
	}
}

// storeEdge stores columns of dw up to the last, followed by db.
func (c *CPU) storeEdge(s *scratch, word, column, rows int) {
	e := &c.entropy
	valid := max(0, e.D-column)
	if valid > 0 {
		c.level.CopyRows(e.dw[word*e.D+column:], e.D, s.sums, c.width, rows, valid)
	}
	if column+valid == e.D {
		for i := range rows {
			e.db[word+i] = s.sums[i*c.width+valid]
		}
	}
}

// rowGradients adds the contribution of words lo to hi to the dh of a group, or begins it. Tiles read rows
// along their words, so the block is transposed first.
func (c *CPU) rowGradients(s *scratch, logits, partial []float32, lo, hi int, load bool) {
	e := &c.entropy
	rows, words := len(e.rows), hi-lo
	c.level.Transpose(s.turned, e.words, logits, e.lanes, words, rows)
	t := &s.tile
	*t = simd.Tile{A: s.turned, Taps: 1, Depth: words, Panel: s.strip[:words*c.width], DstStride: e.columns, Load: load}
	for column := 0; column < e.D; column += c.width {
		c.level.PackColumns(s.strip, c.width, e.w[lo*e.D+column:], e.D, words, min(c.width, e.D-column))
		c.level.MultiplyRows(t, c.width, rows, e.turnedRows, partial[column:])
	}
}

// joinBlock adds up dh of a row over the groups.
func (c *CPU) joinBlock(_, r int) {
	e := &c.entropy
	dh := e.dh[int(e.rows[r])*e.D:][:e.D]
	c.level.SumRows(dh, e.partial[r*e.columns:], e.lanes*e.columns, e.groups)
}
