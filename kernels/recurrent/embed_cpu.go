package recurrent

import (
	"cmp"

	"nmn/kernels/tensor"
)

// lookup is an embedding or its gradient in progress.
type lookup struct {
	Lookup
	rows, table []float32
	words       []int32
}

const (
	embedRows  = 64 // rows of the batch that a task looks up
	tableParts = 64 // ranges of the table, each written by one task
)

func (c *CPU) Embed(y, table, words *tensor.Tensor) error {
	if err := c.prepareLookup("embedding", y, table, words); err != nil {
		return err
	}
	c.workers.Run(tensor.Ceil(c.look.M, embedRows), c.tasks.embed)
	c.look = lookup{}
	return nil
}

func (c *CPU) EmbedGrad(dtable, dy, words *tensor.Tensor) error {
	if err := c.prepareLookup("gradient of the embedding", dy, dtable, words); err != nil {
		return err
	}
	c.workers.Run(min(tableParts, c.look.V), c.tasks.embedGrad)
	c.look = lookup{}
	return nil
}

func (c *CPU) prepareLookup(operation string, rows, table, words *tensor.Tensor) error {
	shape, err := FitEmbed(operation, rows, table, words)
	if err != nil {
		return err
	}
	if err := cmp.Or(tensor.OnHost(operation, tensor.Float32, rows, table),
		tensor.OnHost(operation, tensor.Int32, words)); err != nil {
		return err
	}
	if err := known(operation, words.Int32s(), shape.V); err != nil {
		return err
	}
	c.look = lookup{Lookup: shape, rows: rows.Float32s(), table: table.Float32s(), words: words.Int32s()}
	return nil
}

func (c *CPU) embedBlock(_, block int) {
	l := &c.look
	for m := block * embedRows; m < min((block+1)*embedRows, l.M); m++ {
		row := l.rows[m*l.D : (m+1)*l.D]
		if word := int(l.words[m]); word < 0 {
			clear(row)
		} else {
			copy(row, l.table[word*l.D:])
		}
	}
}

// embedGradBlock writes a range of the table. Words are few, so each task reads all of them.
func (c *CPU) embedGradBlock(_, part int) {
	l := &c.look
	parts := min(tableParts, l.V)
	lo, hi := part*l.V/parts, (part+1)*l.V/parts
	clear(l.table[lo*l.D : hi*l.D])
	for m, word := range l.words {
		if at := int(word); at >= lo && at < hi {
			c.level.Add(l.table[at*l.D:(at+1)*l.D], l.rows[m*l.D:])
		}
	}
}
