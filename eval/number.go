package eval

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// Number is a figure that may be undefined: NaN in memory, null in JSON. Infinities are written as
// null too; no measure of this package is infinite.
type Number float64

// Undefined is the value of a measure that has no meaning for the data, for example the average
// precision of a word that no bag carries.
func Undefined() Number { return Number(math.NaN()) }

// Defined reports whether the figure exists.
func (n Number) Defined() bool { return !math.IsNaN(float64(n)) && !math.IsInf(float64(n), 0) }

// MarshalJSON writes the shortest decimal that reads back as the same float64, or null.
func (n Number) MarshalJSON() ([]byte, error) {
	if !n.Defined() {
		return []byte("null"), nil
	}
	return strconv.AppendFloat(nil, float64(n), 'g', -1, 64), nil
}

// UnmarshalJSON reads a number, or null as NaN.
func (n *Number) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*n = Undefined()
		return nil
	}
	var f float64
	if err := json.Unmarshal(b, &f); err != nil {
		return fmt.Errorf("evaluation figure %.40q: %w", b, err)
	}
	*n = Number(f)
	return nil
}

// mean averages the defined numbers, in order; it is undefined when there are none. The second
// result is how many were averaged.
func mean(values []Number) (Number, int) {
	sum, n := 0.0, 0
	for _, v := range values {
		if v.Defined() {
			sum += float64(v)
			n++
		}
	}
	if n == 0 {
		return Undefined(), 0
	}
	return Number(sum / float64(n)), n
}
