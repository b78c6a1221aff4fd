//go:build cuda

package tensor

import (
	"math"

	"nmn/cuda"
)

// Columns holds the memory for launches that sum the rows of a matrix for each column, by the namespace
// columns of reduce.cuh.
type Columns struct {
	partial Workspace // float64 sums of the parts
	tickets Workspace // uint32 for each tile of columns, 0 between launches
}

// ColumnSum is one such launch.
type ColumnSum struct {
	Grid, Block      cuda.Dim3
	Lanes            int32 // columns of a thread
	Partial, Tickets cuda.Address
}

// Sum plans a launch over this number of rows. Threads take 16 bytes of a row of the matrices, tensors of one
// type, if all rows begin at multiples of 16 bytes, else one element.
func (c *Columns) Sum(device *CUDA, operation string, rows, columns int, matrices ...*Tensor) (s ColumnSum, err error) {
	if columns > math.MaxInt32/columnTile || rows > math.MaxInt32 {
		return s, Misfit(operation, "%d rows of %d channels are more than a launch can have", rows, columns)
	}
	lanes := 1
	if len(matrices) > 0 {
		lanes = 16 / matrices[0].dtype.Size()
	}
	for _, m := range matrices {
		if columns%lanes != 0 || m.address%16 != 0 {
			lanes = 1
		}
	}
	s.Lanes, s.Block = int32(lanes), cuda.Dim3{X: columnTile / lanes, Y: columnThreads * lanes / columnTile}
	s.Grid.X, s.Grid.Y = columnGrid(rows, columns, lanes)
	if s.Partial, err = c.partial.Reserve(device, 8*s.Grid.Y*columns); err != nil {
		return s, err
	}
	s.Tickets, err = c.tickets.Reserve(device, 4*s.Grid.X)
	return s, err
}
