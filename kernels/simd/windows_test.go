package simd

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"
)

// windowsOf runs both operations on rows of a map: arrays 0 and 1 are its rows, 2 and 3 its gradient's, 4
// and 5 belong to the windows.
func windowsOf(l Level, a [][]float32, channels, count int, relu bool) {
	l.MaxWindows(a[4], a[0], a[1], channels, count)
	l.ScatterWindows(&WindowScatter{DUpper: a[2], DLower: a[3], Upper: a[0], Lower: a[1], Top: a[4], Grad: a[5],
		ReLU: relu}, channels, count)
}

func TestWindows_EveryLevelAsTheGoTwin(t *testing.T) {
	eachLevel(t, func(t *testing.T, l Level, r *rand.Rand) {
		for _, channels := range sizes {
			for _, count := range []int{0, 1, 2, 5} {
				for _, relu := range []bool{false, true} {
					want := make([][]float32, 6)
					for i := range want {
						width := 2 * channels * count
						if i >= 4 {
							width = channels * count
						}
						want[i] = drawn(t, r, width)
					}
					got := copies(t, want...)
					windowsOf(Generic, want, channels, count, relu)
					windowsOf(l, got, channels, count, relu)
					for i := range want {
						same(t, "windows", got[i], want[i])
					}
				}
			}
		}
	})
}

func TestWindows_RefuseSlicesThatAreTooShort(t *testing.T) {
	eachLevel(t, func(t *testing.T, l Level, _ *rand.Rand) {
		rows, cells := make([]float32, 24), make([]float32, 12)
		good := WindowScatter{DUpper: rows, DLower: rows, Upper: rows, Lower: rows, Top: cells, Grad: cells}
		refusesChanged(t, func() WindowScatter { return good }, func(s *WindowScatter) { l.ScatterWindows(s, 4, 3) },
			map[string]func(*WindowScatter){
				"dUpper": func(s *WindowScatter) { s.DUpper = rows[1:] }, "dLower": func(s *WindowScatter) { s.DLower = rows[1:] },
				"upper": func(s *WindowScatter) { s.Upper = rows[1:] }, "lower": func(s *WindowScatter) { s.Lower = rows[1:] },
				"top": func(s *WindowScatter) { s.Top = cells[1:] }, "grad": func(s *WindowScatter) { s.Grad = cells[1:] },
			})
		refuses(t, map[string]func(){
			"maximum":  func() { l.MaxWindows(cells, rows, rows[1:], 4, 3) },
			"negative": func() { l.MaxWindows(cells, rows, rows, -4, -3) },
		})
	})
}

func FuzzWindows(f *testing.F) {
	f.Add(uint8(1), uint8(3), true, []byte{0, 0, 128, 63, 0, 0, 192, 127})
	f.Add(uint8(17), uint8(2), false, []byte{1, 2, 3, 4, 5})
	f.Fuzz(func(t *testing.T, channels, count uint8, relu bool, data []byte) {
		c, n := int(channels%40), int(count%6)
		want := make([][]float32, 6)
		for i := range want {
			width := 2 * c * n
			if i >= 4 {
				width = c * n
			}
			want[i] = fenced(t, width)
			for j := range want[i] {
				if at := 4 * (i + 6*j); len(data) >= 4 {
					want[i][j] = math.Float32frombits(binary.LittleEndian.Uint32(data[at%(len(data)-3):]))
				}
			}
		}
		before := copies(t, want...)
		windowsOf(Generic, want, c, n, relu)
		for _, l := range Levels() {
			got := copies(t, before...)
			windowsOf(l, got, c, n, relu)
			for i := range want {
				same(t, l.String(), got[i], want[i])
			}
		}
	})
}
