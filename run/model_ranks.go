package run

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"

	"nmn/internal/setting"
	"nmn/loader"
)

// follows reports whether another rank writes what this one helps to compute, and tells people of it.
func (m *Model) follows() bool { return !m.session.leads() }

// agree makes what is wrong on one rank an error on all.
func (m *Model) agree(err error) error { return m.session.agree(err) }

// sameBags refuses, on all ranks, ranks that have not opened the same model as rank 0, or not found the same bags.
func (m *Model) sameBags(set *loader.Set) error {
	if err := m.session.passes().SameNet(m.net); err != nil {
		return fmt.Errorf("%s: %w", m.file, err)
	}
	return m.session.sameBags(set)
}

// sameBags refuses, on all ranks, ranks that have not found the same bags as rank 0.
func (s *Session) sameBags(set *loader.Set) error {
	ranks := s.ranks
	if ranks.Size() == 1 {
		return nil
	}
	h := sha256.New()
	for _, id := range set.IDs {
		_, _ = h.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(id))))
		_, _ = io.WriteString(h, id)
	}
	all, err := ranks.Gather(h.Sum(binary.LittleEndian.AppendUint64(nil, uint64(set.Len()))))
	if err != nil {
		return err
	}
	for rank, theirs := range all {
		if string(theirs) != string(all[0]) {
			return setting.Errorf("", "rank %d (%s) has found %d bags of %q, rank 0 (%s) %d, or others: all ranks need the "+
				"same files", rank, ranks.Names()[rank], bagsOf(theirs), set.Name, ranks.Names()[0], bagsOf(all[0]))
		}
	}
	return nil
}

// bagsOf is the number in front of what a rank has gathered.
func bagsOf(told []byte) uint64 { return binary.LittleEndian.Uint64(told) }
