// Package scenes is the data set that comes with the program: small pictures of coloured shapes. Each has
// five captions that leave out words as human annotators do, and its true labels. It needs no file. Because
// the truth is known, it measures how well a model learns from noisy labels.
//
//	train, err := scenes.Make(scenes.DefaultConfig())
//	clips, err := scenes.MakeMoving(scenes.MovingConfig{Seed: 1, Split: "train", N: 1000, Frames: 16})
//
// Make returns pictures, and MakeMoving clips in which the shapes move, come and go. Both return a loader.Set
// that paints its pixels when they are read. Write and WriteMoving write the same data as files, in the
// formats of COCO and of folders of frames. Everything depends only on seed, split and position, on every
// machine.
package scenes
