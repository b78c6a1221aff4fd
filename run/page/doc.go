// Package runpage is for programs that write the pages of runs and experiments. It chooses the bags that a page shows
// with what a net predicts of them, and puts the predictions of several nets for the same bags side by side.
package runpage
