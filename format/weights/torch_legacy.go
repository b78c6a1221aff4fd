package weights

import (
	"encoding/binary"
	"fmt"
	"io"
)

// The start of files of PyTorch before 1.6, as a pickled integer, and their version.
const (
	legacyMagic   = bigInt("\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19")
	legacyVersion = 1001
)

// readLegacyTorch reads PyTorch's format before version 1.6 (_use_new_zipfile_serialization=False since):
// pickles of a magic number, a version, facts about the machine, the object and a list of storage keys;
// then, for each key in that order, the number of elements in eight bytes and the elements.
func readLegacyTorch(r io.ReaderAt, size int64) (*File, error) {
	u := newUnpickler(io.NewSectionReader(r, 0, size), 0, size, nil)
	known := map[string]*storage{}
	u.storage = func(id any) (any, error) {
		s, err := parseStorage(id)
		if err != nil {
			return nil, err
		}
		if before, ok := known[s.key]; ok && *before != *s {
			return nil, faultf("storage %q is %d %s here and %d %s before", clip(s.key), s.elements, s.dtype,
				before.elements, before.dtype)
		}
		known[s.key] = s
		return s, nil
	}
	if err := legacyHeader(u); err != nil {
		return nil, err
	}
	root, err := u.load()
	if err != nil {
		return nil, err
	}
	keys, err := u.load()
	if err != nil {
		return nil, fmt.Errorf("list of storages: %w", err)
	}
	places, err := legacyPlaces(r, size, u.at, keys, known)
	if err != nil {
		return nil, err
	}
	return stateFile("PyTorch before 1.6", root, func(s *storage) (place, error) {
		p, ok := places[s.key]
		if !ok {
			return nil, faultf("storage %q is not in the file", clip(s.key))
		}
		return p, nil
	})
}

// legacyHeader reads the three pickles before the object.
func legacyHeader(u *unpickler) error {
	magic, err := u.load()
	if err != nil {
		return err
	}
	if magic != any(legacyMagic) {
		return faultf(
			"a pickle of a %s, not a file of PyTorch: save the weights with torch.save(net.state_dict(), FILE)",
			kind(magic))
	}
	version, err := u.load()
	if err != nil {
		return err
	}
	if version != any(int64(legacyVersion)) {
		return faultf("version %v of PyTorch's format before 1.6, want %d", version, legacyVersion)
	}
	facts, err := u.load()
	if err != nil {
		return err
	}
	if d, ok := facts.(*dict); !ok || d.first([]string{"little_endian"}) != any(true) {
		return faultf("its numbers are not little-endian")
	}
	return nil
}

// legacyPlaces finds the storages. The first of them begins at the byte at of the file.
func legacyPlaces(r io.ReaderAt, size, at int64, keys any, known map[string]*storage) (map[string]place, error) {
	l, ok := keys.(*list)
	if !ok {
		return nil, faultf("a %s instead of the list of storages", kind(keys))
	}
	places := make(map[string]place, len(known))
	for _, item := range l.items {
		key, _ := item.(string)
		s, ok := known[key]
		if _, twice := places[key]; !ok || twice {
			return nil, faultf("byte %d: a storage %q that no tensor has, or that is there twice", at, clip(key))
		}
		var field [8]byte
		if _, err := r.ReadAt(field[:], at); err != nil && err != io.EOF {
			return nil, fmt.Errorf("byte %d: %w", at, err)
		}
		elements := int64(binary.LittleEndian.Uint64(field[:]))
		start := at + int64(len(field))
		length, ok := byteCount(s.elements, s.dtype.Size())
		switch {
		case start > size:
			return nil, faultf("byte %d: storage %q: the file is cut short", at, clip(key))
		case elements != s.elements:
			return nil, faultf("byte %d: storage %q has %d elements, its tensors need %d", at, clip(key), elements, s.elements)
		case !ok || length > size-start:
			return nil, faultf("byte %d: storage %q of %d %s: the file is cut short", at, clip(key), s.elements, s.dtype)
		}
		places[key] = func() (io.Reader, error) { return io.NewSectionReader(r, start, length), nil }
		at = start + length
	}
	return places, nil
}
