package simd

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"
)

// scattersFirst are calls with windows that are apart, overlap, or receive only a part of their candidates.
func scattersFirst(channels int) []FirstScatter {
	row := 7 * channels
	return []FirstScatter{
		{Offsets: []int{0}, Hi: 1, Count: 1},
		{Offsets: []int{0, channels, 2 * channels, row, row + channels, row + 2*channels}, Hi: 6,
			Step: 2 * channels, Count: 3},
		{Offsets: []int{0, channels, 2 * channels, row, row + channels}, Lo: 2, Hi: 5, Step: channels, Count: 4},
		{Offsets: []int{0, row, channels}, Lo: 1, Hi: 2, Step: 2 * channels, Count: 2, ReLU: true},
		{Offsets: []int{row, 0}, Lo: 2, Hi: 2, Count: 1, ReLU: true},
	}
}

func TestScatterFirst_EveryLevelAsTheGoTwin(t *testing.T) {
	eachLevel(t, func(t *testing.T, l Level, r *rand.Rand) {
		for _, channels := range sizes {
			for i, s := range scattersFirst(channels) {
				cells := s.Count * channels
				span := 0
				for _, offset := range s.Offsets {
					span = max(span, offset+(s.Count-1)*s.Step+channels)
				}
				want := [][]float32{drawn(t, r, span), drawn(t, r, span), drawn(t, r, cells), drawn(t, r, cells)}
				got := copies(t, want...)
				with := func(a [][]float32) *FirstScatter {
					call := s
					call.D, call.X, call.Top, call.Grad = a[0], a[1], a[2], a[3]
					return &call
				}
				Generic.ScatterFirst(with(want), channels)
				l.ScatterFirst(with(got), channels)
				for array := range want {
					same(t, "call "+string(rune('0'+i)), got[array], want[array])
				}
			}
		}
	})
}

func TestScatterFirst_FollowsItsDefinition(t *testing.T) {
	eachLevel(t, func(t *testing.T, l Level, _ *rand.Rand) {
		// Two windows of three cells of two channels that share the cell between them.
		x := []float32{3, -1, 3, -2, 5, -1, 5, -7, 1, nan}
		s := FirstScatter{
			X: x, D: make([]float32, 10), Offsets: []int{0, 2, 4}, Hi: 3, Step: 4, Count: 2,
			Top: []float32{5, -1, 5, nan}, Grad: []float32{10, 20, 30, 40},
		}
		l.ScatterFirst(&s, 2)
		same(t, "all", s.D, []float32{0, 20, 0, 0, 40, 0, 0, 0, 0, 40})
		s.ReLU, s.Lo, s.Hi = true, 1, 2
		l.ScatterFirst(&s, 2) // no candidate in the middle equals the maximum
		same(t, "the middle", s.D, []float32{0, 20, 0, 0, 40, 0, 0, 0, 0, 40})
		s.Lo, s.Hi = 0, 3
		l.ScatterFirst(&s, 2)
		same(t, "positive", s.D, []float32{0, 20, 0, 0, 80, 0, 0, 0, 0, 40})
	})
}

func TestScatterFirst_RefusesWhatDoesNotFit(t *testing.T) {
	eachLevel(t, func(t *testing.T, l Level, _ *rand.Rand) {
		good := FirstScatter{D: make([]float32, 24), X: make([]float32, 24), Offsets: []int{0, 4, 8}, Hi: 3,
			Top: make([]float32, 8), Grad: make([]float32, 8), Step: 12, Count: 2}
		refusesChanged(t, func() FirstScatter { return good }, func(s *FirstScatter) { l.ScatterFirst(s, 4) },
			map[string]func(*FirstScatter){
				"d": func(s *FirstScatter) { s.D = s.D[1:] }, "x": func(s *FirstScatter) { s.X = s.X[1:] },
				"top": func(s *FirstScatter) { s.Top = s.Top[1:] }, "grad": func(s *FirstScatter) { s.Grad = s.Grad[1:] },
				"offsets": func(s *FirstScatter) { s.Offsets = nil },
				"offset":  func(s *FirstScatter) { s.Offsets = []int{0, -1, 8} },
				"hi":      func(s *FirstScatter) { s.Hi = 4 }, "lo": func(s *FirstScatter) { s.Lo = 4 },
				"negative lo": func(s *FirstScatter) { s.Lo = -1 }, "step": func(s *FirstScatter) { s.Step = -1 },
			})
		l.ScatterFirst(&good, 4)
	})
}

func FuzzScatterFirst(f *testing.F) {
	f.Add(uint8(1), uint8(3), uint8(0), uint8(9), true, []byte{0, 0, 128, 63, 0, 0, 192, 127})
	f.Add(uint8(17), uint8(2), uint8(3), uint8(4), false, []byte{1, 2, 3, 4, 5})
	f.Fuzz(func(t *testing.T, channels, count, lo, hi uint8, relu bool, data []byte) {
		c, n := int(channels%40), int(count%6)
		if c*n == 0 {
			return
		}
		wide := 2*n + 1
		s := FirstScatter{Step: 2 * c, Count: n, ReLU: relu}
		for i := range 9 {
			s.Offsets = append(s.Offsets, (i/3*wide+i%3)*c)
		}
		s.Hi = int(hi % 10)
		s.Lo = int(lo) % (s.Hi + 1)
		arrays := [][]float32{fenced(t, 3*wide*c), fenced(t, 3*wide*c), fenced(t, n*c), fenced(t, n*c)}
		for i := range arrays {
			for j := range arrays[i] {
				if at := 4 * (i + 4*j); len(data) >= 4 {
					arrays[i][j] = math.Float32frombits(binary.LittleEndian.Uint32(data[at%(len(data)-3):]))
				}
			}
		}
		var want []float32
		for _, l := range Levels() {
			got := copies(t, arrays...)
			call := s
			call.D, call.X, call.Top, call.Grad = got[0], got[1], got[2], got[3]
			l.ScatterFirst(&call, c)
			if want == nil {
				want = got[0]
			}
			same(t, l.String(), got[0], want)
		}
	})
}
