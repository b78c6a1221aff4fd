// Package augment changes pictures and labels of a training set at random, anew in each epoch: random resized crops,
// colour jitter, RandAugment, random erasing, and mixup between the bags of a batch.
//
//	draws := augment.NewDraws(config, seed)
//	worker := augment.NewWorker(draws, mean) // one for each goroutine
//	worker.Crop(&pic, epoch, bag)            // before the picture is resized onto its canvas
//	worker.Canvas(canvas, size, width, height, augment.Place{Epoch: epoch, Bag: bag, Frame: frame})
//
// What is drawn is a function of (seed, purpose, epoch, bag), the same for all frames of a clip; the noise in an erased
// rectangle alone depends on the frame. Neither the number of workers nor where a run was resumed changes it.
//
// The operations compute in 8 bits what torchvision computes on pictures of Pillow: fixtures of both are in testdata.
package augment
