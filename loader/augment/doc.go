// Package augment changes pictures and labels of a training set at random, anew in each epoch. It has random
// resized crops, colour jitter, RandAugment, random erasing, and mixup between the bags of a batch.
//
//	draws := augment.NewDraws(config, seed)
//	worker := augment.NewWorker(draws, mean) // one for each goroutine
//	worker.Crop(&pic, epoch, bag)            // before the picture is resized onto its canvas
//	worker.Canvas(canvas, size, width, height, augment.Place{Epoch: epoch, Bag: bag, Frame: frame})
//
// Draws are a function of (seed, purpose, epoch, bag) and equal for all frames of a clip. Only the noise in
// an erased rectangle depends on the frame. Neither the number of workers nor resuming a run changes them.
//
// The operations compute in 8 bits and match torchvision on Pillow pictures; fixtures of both are in
// testdata.
package augment
