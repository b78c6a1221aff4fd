// Package profile times every operation of a training step. A Recorder is a backend around a backend:
// what a net calls through it is done, timed and written down with its layer, its arithmetic and the
// bytes that it moves.
package profile
