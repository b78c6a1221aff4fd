package recurrent

import "nmn/kernels/tensor"

// Embed implements Ops.
func (c *CPU) Embed(y, table, words *tensor.Tensor) error {
	const operation = "embedding"
	e, err := FitEmbed(operation, y, table, words)
	if err != nil {
		return err
	}
	if err := onHost(operation, y, table, words); err != nil {
		return err
	}
	if err := known(operation, words.Int32s(), e.V); err != nil {
		return err
	}
	for m, word := range words.Int32s() {
		row := y.Float32s()[m*e.D : (m+1)*e.D]
		if word < 0 {
			clear(row)
		} else {
			copy(row, table.Float32s()[int(word)*e.D:])
		}
	}
	return nil
}

// EmbedGrad implements Ops.
func (c *CPU) EmbedGrad(dtable, dy, words *tensor.Tensor) error {
	const operation = "gradient of the embedding"
	e, err := FitEmbed(operation, dy, dtable, words)
	if err != nil {
		return err
	}
	if err := onHost(operation, dtable, dy, words); err != nil {
		return err
	}
	if err := known(operation, words.Int32s(), e.V); err != nil {
		return err
	}
	clear(dtable.Float32s())
	for m, word := range words.Int32s() {
		if word >= 0 {
			c.level.Add(dtable.Float32s()[int(word)*e.D:][:e.D], dy.Float32s()[m*e.D:(m+1)*e.D])
		}
	}
	return nil
}
