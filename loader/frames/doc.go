// Package frames extracts frames of video clips for training, with ffmpeg as a child process, and stores them
// with package shard.
//
// From a clip of n decoded frames, m are taken: frame floor((i + 1/2) n / m) for i of 0 to m-1, the centre of
// each of m equal spans (choose). n is the number of frames that the decoder returns, in its order, not the
// number in the file's header. Whatever the frame rate does, no frame is doubled or dropped.
//
// ffmpeg is a separate program. The package does not rely on it to end, to keep to its format or to limit its
// memory. Each child has a time limit, a limit on memory and files, and a process group that is killed as a
// whole. Its output is read as untrusted input, in bounded memory.
package frames

import "errors"

// ErrClip is wrapped by every error about a single clip. Errors about ffmpeg, the disk or the system, which
// would affect any clip, do not wrap it.
var ErrClip = errors.New("the clip cannot be used")

// ErrTool is wrapped by errors about ffmpeg itself: it is missing, too old, or cannot be started.
var ErrTool = errors.New("ffmpeg cannot be used")
