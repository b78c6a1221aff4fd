// Package input opens the files that somebody names, without waiting for what is no file.
//
// Opening a named pipe waits until another program writes to it, and reading a terminal or another device may never
// end. So a path is looked at before it is opened: data must lie in regular files, because they are read again when a
// run is resumed. What is read once, such as a configuration, may come from a pipe too. Reads end with the context.
package input
