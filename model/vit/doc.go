// Package vit computes features of pictures by vision transformers (Dosovitskiy et al., 2021), forward only: those of
// torchvision and timm, DINOv2 and the vision tower of CLIP, as their files of weights have them.
//
//	config, mapping, err := vit.Recognise(file)       // by names and shapes of its tensors
//	net, err := vit.New(config, backend)
//	err = net.Load(file, mapping)
//	class := make([]float32, 32*384)                  // of 32 pictures by a ViT-S
//	err = net.Features(pixels, []vit.Layer{vit.Class}, [][]float32{class})
package vit
