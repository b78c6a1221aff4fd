//go:build cuda

package recurrent

import (
	"math"

	"nmn/cuda"
	"nmn/kernels/tensor"
)

func (c *CUDA) Embed(y, table, words *tensor.Tensor) error {
	e, err := c.fitEmbed("embedding", y, table, words)
	if err != nil || e.M == 0 {
		return err
	}
	return c.table.embed.Launch(c.device.Stream, tensor.Spread(e.M, 1), cuda.Dim3{X: threads}, embedArguments{
		y: tensor.At(y), table: tensor.At(table), words: tensor.At(words), rows: int32(e.M), width: int32(e.D),
		vocabulary: int32(e.V),
	})
}

func (c *CUDA) EmbedGrad(dtable, dy, words *tensor.Tensor) error {
	e, err := c.fitEmbed("gradient of the embedding", dy, dtable, words)
	if err != nil {
		return err
	}
	const threads = 128
	return c.table.embedGradient.Launch(c.device.Stream, tensor.Spread(e.V, 1), cuda.Dim3{X: threads},
		embedGradientArguments{
			dtable: tensor.At(dtable), dy: tensor.At(dy), words: tensor.At(words), rows: int32(e.M), width: int32(e.D),
			vocabulary: int32(e.V),
		})
}

func (c *CUDA) fitEmbed(operation string, rows, table, words *tensor.Tensor) (Lookup, error) {
	e, err := FitEmbed(operation, rows, table, words)
	if err != nil {
		return e, err
	}
	if max(e.M, e.V, e.D) > math.MaxInt32-threads {
		return e, tensor.Misfit(operation, "%d rows of a table %d×%d are more than a launch can have", e.M, e.V, e.D)
	}
	if err := tensor.OnDevice(operation, tensor.Float32, rows, table); err != nil {
		return e, err
	}
	return e, tensor.OnDevice(operation, tensor.Int32, words)
}
