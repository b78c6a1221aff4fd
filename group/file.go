package group

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"os"
)

// filePiece is how much of a file travels at once.
const filePiece = 16 << 20

// File gives every rank a file that rank 0 has at a path: rank 0 the path itself, the others a copy in a folder, which
// they remove when they are done; an empty folder is that for temporary files. path is of interest on rank 0 alone.
// Where it fails, it does so on all ranks, and leaves no copy.
func File(g Group, path, folder string) (local string, err error) {
	if g.Size() == 1 {
		return path, nil
	}
	file, size, err := openFile(g, path, folder)
	if err := Agree(g, err); err != nil {
		return "", dropped(g, file, err)
	}
	var header [8]byte
	binary.LittleEndian.PutUint64(header[:], uint64(size))
	if err := g.Broadcast(header[:]); err != nil {
		return "", dropped(g, file, err)
	}
	var failed error
	piece := make([]byte, filePiece)
	for left := int64(binary.LittleEndian.Uint64(header[:])); left > 0; left -= int64(len(piece)) {
		piece = piece[:min(int64(len(piece)), left)]
		if g.Rank() == 0 && failed == nil { // after a failure the others still wait for as many pieces
			_, failed = io.ReadFull(file, piece)
		}
		if err := g.Broadcast(piece); err != nil {
			return "", dropped(g, file, err)
		}
		if g.Rank() > 0 && failed == nil {
			_, failed = file.Write(piece)
		}
	}
	if failed != nil {
		failed = fmt.Errorf("cannot send %q to all ranks: %w", path, failed)
	}
	if err := Agree(g, failed); err != nil {
		return "", dropped(g, file, err)
	}
	return file.Name(), file.Close()
}

// openFile opens the file on rank 0, and its copy on another.
func openFile(g Group, path, folder string) (file *os.File, size int64, err error) {
	if g.Rank() > 0 {
		file, err = os.CreateTemp(folder, "rank-*.tmp")
		return file, 0, err
	}
	if file, err = os.Open(path); err != nil {
		return nil, 0, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%q is not a regular file", path)
	}
	if err == nil {
		size = info.Size()
	}
	return file, size, err
}

// dropped closes the file, and removes the copy that it is.
func dropped(g Group, file *os.File, err error) error {
	if file == nil {
		return err
	}
	closing := file.Close()
	if g.Rank() > 0 {
		closing = cmp.Or(os.Remove(file.Name()), closing)
	}
	return cmp.Or(err, closing)
}
