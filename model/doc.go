// Package model builds the networks: VGG16 as a fully convolutional net with multiple-instance learning and
// the noise model, residual nets, and heads on feature vectors. They are functions with named parameters. The
// backward pass stands under each forward pass; there is no tape.
//
// A backbone is a list of operations, [Config.Backbone]. Each is a convolution or a pool and names the map
// that it reads. A convolution may add another map, its shortcut, before its ReLU. Forward and backward pass,
// buffers, chunks, the order of gradients, costs and exported graphs follow from the list. Batch
// normalisation is not an operation: it is folded into the convolutions when weights are read (fold.go).
//
// A shortcut costs no operation in the backward pass (flow.go). The gradient of a block's output, masked by
// its ReLU, is also the gradient of the shortcut, so both are one tensor. The convolutions of the block read
// it first. Then the lowest of them adds the gradient of its input to it and applies the mask of that input.
//
// Buffers are planned once for each shape of batch ([Plan]) and are views of one arena: a step allocates
// nothing.
package model
