// Package vit computes features of pictures by vision transformers (Dosovitskiy et al., 2021), forward only: those of
// torchvision and timm, DINOv2 and the vision tower of CLIP, as their files of weights have them.
//
//	config, mapping, err := vit.Recognise(file)       // by names and shapes of its tensors
//	net, err := vit.New(config, backend)
//	err = net.Load(file, mapping)
//	plan, err := net.Plan(32)                         // as many pictures at once
//	... upload 8-bit pixels into plan.Pixels ...
//	err = net.Forward(plan)
//	err = net.Extract(rows, plan, vit.Class)          // 32×384 numbers of a ViT-S
package vit
