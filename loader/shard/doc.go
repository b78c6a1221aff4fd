// Package shard keeps frames of video clips in files that training reads: WebDataset tar shards, or a
// folder of pictures, with an index beside them that says where each frame lies.
//
// A folder of shards holds frames-000000.tar, frames-000001.tar and so on. The members of one clip are
// adjacent and share a key: KEY.00.jpg, KEY.01.jpg, ..., KEY.json, the last of which says what the
// clip is (Record). A frame folder holds KEY/00.jpg, KEY/01.jpg, ..., KEY/clip.json instead.
//
// index.jsonl, the index, has a line of JSON for the folder (Header), then one for each clip in the
// order of the shards. index.offsets, beside it, has where each of these lines begins: 16 bytes of
// head, then 8 bytes a clip, so that a record is found without memory that grows with their number.
// It is made from the index, which is made from the shards: rebuild makes both again.
//
// A shard is written aside, synced and renamed, and only then do its clips enter the index. What is
// finished stays valid whatever happens after; what a kill leaves behind is put right by Append.
//
// All of it is read as hostile input: no name in it leads out of the folder, and no number in it is
// believed before it is checked against the file.
package shard

import (
	"errors"
	"fmt"
)

// ErrFormat is wrapped by every error about the content of an index or a shard: one that does not
// follow the format, is cut short, or says something else than the other.
var ErrFormat = errors.New("not a valid folder of frames")

// ErrExists is wrapped by the error of Create where frames are there already.
var ErrExists = errors.New("frames are there already")

// fault wraps ErrFormat without repeating its text.
type fault string

func (f fault) Error() string { return string(f) }
func (f fault) Unwrap() error { return ErrFormat }

func faultf(format string, args ...any) error { return fault(fmt.Sprintf(format, args...)) }

// cure is what helps where the index does not fit the shards.
const cure = "`shard.rebuild_index` makes the index again from what is there"
