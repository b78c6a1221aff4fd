package misplaced

import (
	"math/bits"
	"slices"
)

// mostExact is the number of captions up to which all divisions of a bag's captions are compared.
const mostExact = 6

// arrangement divides captions 0 to n-1 into the bag's own captions and groups of foreign ones, each a set of
// bits.
type arrangement struct {
	own     uint8
	groups  []uint8 // foreign captions that came together, two at least
	singles []uint8 // places of foreign captions that came alone
}

func onesOf(set uint8) int { return bits.OnesCount8(set) }

// foreign is the number of foreign captions of n.
func (a *arrangement) foreign(n int) int { return n - onesOf(a.own) }

// arrangements returns all arrangements of n captions. If largest is set, no foreign group is larger than the
// bag's own, and captions are all foreign only if each came alone.
func arrangements(n int, largest bool) []arrangement {
	var all []arrangement
	var divide func(c int, groups []uint8)
	divide = func(c int, groups []uint8) {
		if c < n {
			for i := range groups {
				next := slices.Clone(groups)
				next[i] |= 1 << c
				divide(c+1, next)
			}
			divide(c+1, append(slices.Clone(groups), 1<<c))
			return
		}
		for own := -1; own < len(groups); own++ {
			var a arrangement
			most := 1
			for i, g := range groups {
				size := onesOf(g)
				switch {
				case i == own:
					a.own = g
					continue
				case size == 1:
					a.singles = append(a.singles, uint8(bits.TrailingZeros8(g)))
				default:
					a.groups = append(a.groups, g)
				}
				most = max(most, size)
			}
			if size := onesOf(a.own); largest && size < most && (size > 0 || most > 1) {
				continue
			}
			all = append(all, a)
		}
	}
	divide(0, nil)
	return all
}
