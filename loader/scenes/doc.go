// Package scenes is the data set that comes with the program: small pictures of coloured shapes, each with five
// captions that leave things out the way people do, and with the labels that are really true. It needs no file, and
// because the truth is known, it shows how well noisy labels are learned from.
//
//	train, err := scenes.Make(scenes.DefaultConfig())
//	clips, err := scenes.MakeMoving(scenes.MovingConfig{Seed: 1, Split: "train", N: 1000, Frames: 16})
//
// Make gives pictures and MakeMoving clips in which the shapes move, come and go; both return a loader.Set that
// paints its pixels when they are read. Write and WriteMoving write the same as files, in the formats of COCO and of
// folders of frames. Everything depends on seed, split and position alone, on every machine.
package scenes
