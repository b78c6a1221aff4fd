// Package origin remembers which files something was made from, so that it can be told later whether they are still the
// same: by their content, or by size and time of modification where reading them would take too long.
package origin
