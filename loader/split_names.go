package loader

import "strings"

// The splits of a data set, named as in MSR-VTT's annotations; sets use these names too.
const (
	TrainSplit      = "train"
	ValidationSplit = "validate"
	TestSplit       = "test"
)

// SplitNamed finds the split that a list means by a name: train or training, validation, validate, valid,
// val or dev, and test, in either case.
func SplitNamed(name string) (split string, ok bool) {
	switch strings.ToLower(strings.TrimSpace(name)) {
	case "train", "training":
		return TrainSplit, true
	case "validation", "validate", "valid", "val", "dev":
		return ValidationSplit, true
	case "test":
		return TestSplit, true
	}
	return "", false
}
