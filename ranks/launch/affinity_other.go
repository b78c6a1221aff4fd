//go:build !linux

package launch

// affinity is not known here.
func affinity() string { return "" }
