package tensor

// Grids of launches follow from shapes alone, so that results, and the order of every sum, are equal on all
// cards. Their constants are made for the 132 multiprocessors of an H100 or H200.

// The constants of reduce.cuh, and of the launches that add up the rows of a matrix by it.
const (
	columnTile    = 32
	columnThreads = 256
	// columnWave is four blocks on each multiprocessor, the number that the kernels' launch bounds allow
	// there.
	columnWave = 4 * 132
	// columnWaves bounds the number of partial sums, which the last block of a tile adds up by itself.
	columnWaves = 5
	// columnRows is the number of rows for a thread if that fills a wave, and leastRows otherwise.
	columnRows = 16
	leastRows  = 4
)

// columnGrid returns the number of blocks across the columns, each thread taking lanes of them, and of parts
// that the rows are cut into: whole waves of blocks.
func columnGrid(rows, columns, lanes int) (tiles, parts int) {
	tiles = max(1, Ceil(columns, columnTile))
	strips := columnThreads * lanes / columnTile
	waves := tiles * Ceil(rows, strips*columnRows) / columnWave
	waves = min(max(1, waves), columnWaves)
	return tiles, max(1, min(waves*columnWave/tiles, Ceil(rows, strips*leastRows)))
}

// coverBlocks is the number of blocks for count groups of elements, batch of them a thread. Each group
// belongs to one thread, so the number never changes a result. Only the last wave may leave multiprocessors
// idle, and it is a small share of the blocks.
func coverBlocks(count, threads, batch int) int {
	const most = 1 << 16 // further groups are taken in turn
	return max(1, min(Ceil(count, threads*batch), most))
}
