// Package shard stores frames of video clips in files for training: WebDataset tar shards, and next to them an index
// with the location of each frame.
//
// A folder of shards holds frames-000000.tar, frames-000001.tar and so on. The members of one clip are
// adjacent and share a key: KEY.00.jpg, KEY.01.jpg, ..., KEY.json. The last one describes the clip (Record).
//
// index.jsonl, the index, has a line of JSON for the folder (Header), then one for each clip in the order of
// the shards. index.offsets, next to it, has the start of each of these lines: 16 bytes of head, then 8 bytes
// a clip. With it, finding a record needs no memory that grows with the number of clips. The offsets are made
// from the index, and the index from the shards: rebuild makes both again.
//
// A shard is written to a temporary file, synced and renamed, and only then do its clips enter the index.
// Finished shards stay valid whatever happens after. Append repairs what a killed process left.
//
// All of it is read as untrusted input: no name in it leads out of the folder, and every number in it is
// checked against the file.
package shard

import (
	"errors"

	"nmn/internal/fault"
)

// ErrFormat is wrapped by every error about the content of an index or a shard: it does not follow the
// format, is cut short, or contradicts the other.
var ErrFormat = errors.New("not a valid folder of frames")

// ErrExists is wrapped by the error of Create if the folder already has frames.
var ErrExists = errors.New("frames are there already")

func faultf(format string, args ...any) error { return fault.Newf(ErrFormat, format, args...) }

// cure is the fix if the index does not match the shards.
const cure = "`shard.rebuild_index` makes the index again from the shards"
