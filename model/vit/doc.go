// Package vit computes features of pictures by vision transformers (Dosovitskiy et al., 2021), forward only.
// It reads the weight files of torchvision, timm, DINOv2 and the vision tower of CLIP.
//
//	config, mapping, err := vit.Recognise(file)       // by names and shapes of its tensors
//	net, err := vit.New(config, backend)
//	err = net.Load(file, mapping)
//	class := make([]float32, 32*384)                  // of 32 pictures by a ViT-S
//	err = net.Features(pixels, []vit.Layer{vit.Class}, [][]float32{class})
//
// A picture becomes patches, then tokens with class token, registers and positions. Each block adds attention
// and an MLP with GELU to this residual stream, each after a layer norm. Features are means over the
// normalised tokens of a kind: the class token, the registers, the patches. BagPool of package pool computes
// them as bags of unequal length.
//
// Positions are interpolated once, in float64, when weights are loaded. Each layout interpolates in its own
// way, and the ways differ by more than rounding. Three buffers hold a batch: the stream, the output of a
// norm or of attention, and the widest one. The widest buffer holds pixels, then queries, keys and values,
// then the hidden layer of the MLP. It takes 2.5 MB for each picture of a ViT-S/14 at 224 pixels. On cards in
// bfloat16 the stream, the activations and the weights of products have that type. Norms, biases, positions
// and features are float32.
package vit
