// Package frames takes frames of video clips for training, by ffmpeg as a child process, and keeps them
// as package shard does.
//
// Of a clip of n decoded frames, m are taken: frame floor((i + 1/2) n / m) for i of 0 to m-1, the
// centre of each of m equal spans (choose). n is what the decoder gives, in the order in which it gives
// them, and not what the file says: whatever the frame rate does, no frame is doubled or dropped.
//
// ffmpeg is a program of its own and is not trusted to end, to keep to its format or to be modest: each
// child has a time, a limit on its memory and its files, and a process group that is killed as a whole;
// what it writes is read as hostile input, in bounded memory.
package frames

import "errors"

// ErrClip is wrapped by every error about one clip, as against one about ffmpeg, the disk or the
// system, which would hit any clip.
var ErrClip = errors.New("the clip cannot be used")

// ErrTool is wrapped by errors about ffmpeg itself: it is not there, too old, or cannot be started.
var ErrTool = errors.New("ffmpeg cannot be used")

// clipError wraps ErrClip without its text; cause is what a person reads.
type clipError struct{ cause error }

func (e clipError) Error() string   { return e.cause.Error() }
func (e clipError) Unwrap() []error { return []error{ErrClip, e.cause} }
