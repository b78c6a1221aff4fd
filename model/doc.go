// Package model is for changes of the networks: VGG16 as a fully convolutional net with multiple-instance learning and
// the noise model, residual nets, and heads on feature vectors, written as functions with named parameters. Backward is
// written under forward; there is no tape.
//
// A backbone is a list of operations, [Config.Backbone]. Each is a convolution or a pool and names the map that it
// reads; a convolution may add another map, its shortcut, before its ReLU. Forward and backward pass, buffers, chunks,
// the order of gradients, costs and exported graphs follow from the list. Batch normalisation is none of the
// operations: it is folded into the convolutions when weights are read (fold.go).
//
// A shortcut costs no operation on the way back (flow.go). The gradient of a block's output, masked by its ReLU, is the
// gradient of the shortcut too, so both are one tensor. The convolutions of the block read it first. Then the lowest of
// them adds the gradient of its input to it and applies the mask of that input.
//
// Buffers are planned once for each shape of batch ([Plan]) and are views of one arena: a step allocates nothing.
package model
