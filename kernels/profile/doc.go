// Package profile times every operation of a training step. A Recorder is a backend around a backend: it runs
// and times every call of a net, and records it with its layer, its arithmetic and the bytes that it moves.
package profile
