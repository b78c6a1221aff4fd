package ranks

import (
	"encoding/binary"
	"fmt"
)

// longPrefix is how many bytes at the start of a message gatherLong writes into, and longPiece is how much of a message
// travels at once.
const (
	longPrefix = 8
	longPiece  = 8 << 20
)

// longestMessage is beyond what any rank has to say.
const longestMessage = 1 << 40

// gatherLong is Gather for messages of any length: at most piece bytes of a rank are sent at once. The first
// longPrefix bytes of own are room for its length, and are not part of the result. piece is equal on all
// ranks, and more than longPrefix.
func gatherLong(g Group, own []byte, piece int) ([][]byte, error) {
	binary.LittleEndian.PutUint64(own, uint64(len(own)))
	first, err := g.Gather(own[:min(piece, len(own))])
	if err != nil {
		return nil, err
	}
	longest := 0
	lengths := make([]int, len(first))
	for rank, part := range first {
		if len(part) < longPrefix {
			return nil, fmt.Errorf("group: rank %d sends %d bytes, want at least the %d of the length", rank, len(part),
				longPrefix)
		}
		length := binary.LittleEndian.Uint64(part)
		if length < longPrefix || length > longestMessage {
			return nil, fmt.Errorf("group: rank %d speaks of a message of %d bytes", rank, length)
		}
		lengths[rank] = int(length)
		longest = max(longest, lengths[rank])
	}
	all := make([][]byte, len(first))
	for rank, part := range first {
		if all[rank] = part[longPrefix:]; longest > piece { // part does not outlast the next Gather
			all[rank] = append(make([]byte, 0, lengths[rank]-longPrefix), part[longPrefix:]...)
		}
	}
	for at := piece; at < longest; at += piece {
		parts, err := g.Gather(own[min(at, len(own)):min(at+piece, len(own))])
		if err != nil {
			return nil, err
		}
		for rank, part := range parts {
			all[rank] = append(all[rank], part...)
		}
	}
	for rank, message := range all {
		if len(message) != lengths[rank]-longPrefix {
			return nil, fmt.Errorf("group: rank %d gives %d bytes of a message of %d", rank, len(message),
				lengths[rank]-longPrefix)
		}
	}
	return all, nil
}
