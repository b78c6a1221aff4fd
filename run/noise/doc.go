// Package runnoise is for programs that show the noise model of a finished run. It reads the rates of each word from
// the net, and joins them with the true rates and the estimated ones.
package runnoise
