// Package model holds the networks: VGG16 as a fully convolutional net with multiple-instance
// learning and the noise model, written as functions with named parameters. Backward is written
// under forward; there is no tape.
package model
