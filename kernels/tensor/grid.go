package tensor

// Grids of launches follow from shapes alone, so that results, and the order of every sum, are equal on all
// cards. Their constants are made for the 132 multiprocessors of an H100 or H200.

// The constants of reduce.cuh, and of the launches that add up the rows of a matrix by it.
const (
	columnTile    = 32
	columnThreads = 256
	// columnWave is four blocks on each multiprocessor: what the kernels' launch bounds let reside there.
	columnWave = 4 * 132
	// columnWaves bounds the number of partial sums, which the last block of a tile adds up by itself.
	columnWaves = 5
	// columnRows is the number of rows that a thread should have where that fills a wave, leastRows where not.
	columnRows = 16
	leastRows  = 4
)

// columnGrid is the blocks side by side and the parts that rows are cut into, for threads of so many columns each:
// whole waves of blocks.
func columnGrid(rows, columns, lanes int) (tiles, parts int) {
	tiles = max(1, ceil(columns, columnTile))
	strips := columnThreads * lanes / columnTile
	waves := tiles * ceil(rows, strips*columnRows) / columnWave
	waves = min(max(1, waves), columnWaves)
	return tiles, max(1, min(waves*columnWave/tiles, ceil(rows, strips*leastRows)))
}

// coverBlocks is the number of blocks that take count groups of elements, batch of them a thread. Each
// group is a thread's own, so that the number never changes a result: there are as many blocks as
// groups ask for, of which the last wave, the only one that may leave multiprocessors idle, is a small share.
func coverBlocks(count, threads, batch int) int {
	const most = 1 << 16 // further groups are taken in turn
	return max(1, min(ceil(count, threads*batch), most))
}

func ceil(a, b int) int { return (a + b - 1) / b }
