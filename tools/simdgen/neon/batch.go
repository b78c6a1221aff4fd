package neon

import "fmt"

// batch writes the kernel of simd.Batch: at each point, tiles of the most rows that the registers hold, then
// tiles of the fewest rows for the remaining rows, a multiple of those.
func batch(f *file) {
	f.function(fmt.Sprintf("batch%dx%dNEON", mostRows, wideColumns), "func(a *float32, aPoint, rows, depth int, "+
		"panel *float32, panelPoint int, dst *float32, dstPoint, dstStride, points int)", func(k *kernel) {
		a, panel, dst, points := k.load("a"), k.load("panel"), k.load("dst"), k.load("points")
		row, to, left := k.register(), k.register(), k.register()
		k.label("point")
		k.move(a, row)
		k.move(dst, to)
		k.op("MOVD %s, R%d", k.memory("rows"), left)
		k.label("most")
		k.op("CMP $%d, R%d", mostRows, left)
		k.op("BLT fewest")
		k.batchTile("most", mostRows, row, panel, to, left)
		k.op("B most")
		k.label("fewest")
		k.op("CMP $0, R%d", left)
		k.op("BLE next")
		k.batchTile("fewest", fewestRows, row, panel, to, left)
		k.op("B fewest")
		k.label("next")
		k.scope(func() {
			k.add(k.loadBytes("aPoint"), a)
			k.add(k.loadBytes("panelPoint"), panel)
			k.add(k.loadBytes("dstPoint"), dst)
		})
		k.countDown(points, "point")
	})
}

// batchTile multiplies the next rows by the panel of the point and moves on.
func (k *kernel) batchTile(name string, rows int, row, panel, to, left register) {
	k.scope(func() {
		acc := k.grid(rows, wideColumns/lanes)
		k.clear(acc)
		depth, dstStride := k.load("depth"), k.loadBytes("dstStride")
		pointers := make([]register, rows)
		for i := range pointers {
			pointers[i] = k.register()
			k.op("ADD R%d<<2, R%d, R%d", depth, row, row)
			k.move(row, pointers[i]) // the end of row i
		}
		at, ahead := k.register(), k.register()
		k.move(panel, at)
		k.move(row, ahead)
		k.tileLoop(name+"_step", acc, pointers, depth, at, ahead)
		for i := range acc {
			k.spill(acc[i], to, wideColumns)
			k.add(dstStride, to)
		}
		k.op("SUB $%d, R%d, R%d", rows, left, left)
	})
}
