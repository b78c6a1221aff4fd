package features

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// missingTexts are the texts of a missing number, in addition to an empty field.
var missingTexts = [...]string{"", "?", "NA", "N/A", "null"}

// parseNumber reads a number of text; a missing one is NaN. True and false are 1 and 0, as pandas, R and
// spreadsheets write them.
func parseNumber(s string) (float32, error) {
	s = strings.TrimSpace(s)
	v, err := strconv.ParseFloat(s, 32)
	if err == nil || v != 0 { // beyond float32 it is infinite, which is refused with its place
		return float32(v), nil
	}
	switch {
	case strings.EqualFold(s, "true"):
		return 1, nil
	case strings.EqualFold(s, "false"):
		return 0, nil
	}
	if slices.Contains(missingTexts[:], s) {
		return float32(math.NaN()), nil
	}
	return 0, valuef("%q is not a number; leave the column out with `data.features.ignore_columns` if it is no feature",
		clip(s))
}

func isNumber(s string) bool {
	_, err := parseNumber(s)
	return err == nil
}
