// Package origin records the files that something was made from, so that a later run can check whether they
// are unchanged. It compares their content. If reading that takes too long, it compares sizes and times of
// modification, or sizes and the ends of files.
package origin
