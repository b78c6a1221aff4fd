// Package origin records the files that something was made from, so that a later run can check whether they
// are unchanged. It compares their content, or size and time of modification if reading them would take too
// long.
package origin
