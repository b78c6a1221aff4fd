// Package onnx writes networks in the ONNX format: a protobuf message with a graph of operations, its inputs
// and outputs, and its tensors. Tensors are streamed: writing takes the memory of the graph without them.
//
// Operations and attributes follow opset 17 (https://onnx.ai/onnx/operators).
package onnx

// Versions of the format in files: IR version 8 came with opset 17, ONNX 1.12.
const (
	irVersion = 8
	opset     = 17
)

// maxBytes is the maximum size of a protobuf message: 2 GiB.
const maxBytes = 1<<31 - 1

// Field numbers of onnx.proto3.
const (
	modelIR, modelProducer, modelProducerVersion, modelGraph, modelOpset, modelMetadata = 1, 2, 3, 7, 8, 14

	opsetVersion        = 2
	entryKey, entryText = 1, 2

	graphNode, graphName, graphInitializer, graphInput, graphOutput = 1, 2, 5, 11, 12

	nodeInput, nodeOutput, nodeName, nodeOp, nodeAttribute = 1, 2, 3, 4, 5

	attributeName, attributeInt, attributeInts, attributeType = 1, 3, 8, 20
	kindInt, kindInts                                         = 2, 7

	tensorDims, tensorType, tensorName, tensorRaw = 1, 2, 8, 9
	typeFloat, typeInt64                          = 1, 7

	valueName, valueType               = 1, 2
	typeTensor                         = 1
	tensorTypeElement, tensorTypeShape = 1, 2
	shapeDim                           = 1
	dimValue, dimParam                 = 1, 2
)
