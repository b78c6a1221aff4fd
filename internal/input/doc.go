// Package input opens files that the user names, without waiting on pipes and devices.
//
// Opening a named pipe waits until another program writes to it, and reading a terminal or another device may
// never end. So a path is checked before it is opened. Data must lie in regular files, because they are read
// again when a run is resumed. A file that is read once, such as a configuration, may also be a pipe. Reads
// end with the context.
package input
