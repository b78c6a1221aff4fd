package weights

import (
	"archive/zip"
	"fmt"
	"io"
	"slices"
	"strings"
)

// readTorch reads PyTorch's zip format: a pickle data.pkl, and a stored entry data/<key> for each storage,
// all in one folder.
func readTorch(z *zip.Reader, folder string) (*File, error) {
	entries, err := zipEntries(z)
	if err != nil {
		return nil, err
	}
	if _, script := entries[folder+"constants.pkl"]; script {
		return nil, faultf("it is a TorchScript program: save the weights of the network that it was made of, " +
			"torch.save(net.state_dict(), FILE)")
	}
	if err := checkByteOrder(entries[folder+"byteorder"]); err != nil {
		return nil, err
	}
	data := entries[folder+"data.pkl"]
	r, err := openEntry(data)
	if err != nil {
		return nil, err
	}
	u := newUnpickler(r, 0, int64(min(data.UncompressedSize64, maxPickle)), func(id any) (any, error) {
		return parseStorage(id)
	})
	root, err := u.load()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", data.Name, err)
	}
	return stateFile("PyTorch", root, func(s *storage) (place, error) {
		entry, ok := entries[folder+"data/"+s.key]
		if !ok {
			return nil, faultf("the archive has no %sdata/%s", folder, s.key)
		}
		size, ok := byteCount(s.elements, s.dtype.Size())
		if !ok || entry.UncompressedSize64 != uint64(size) {
			return nil, faultf("storage %q of %d %s is in an entry of %d bytes",
				s.key, s.elements, s.dtype, entry.UncompressedSize64)
		}
		return func() (io.Reader, error) { return openEntry(entry) }, nil
	})
}

// checkByteOrder refuses files from machines with another byte order. Older files do not record it.
func checkByteOrder(entry *zip.File) error {
	if entry == nil {
		return nil
	}
	r, err := openEntry(entry)
	if err != nil {
		return err
	}
	const little = "little"
	order, err := io.ReadAll(io.LimitReader(r, int64(len(little))))
	if err == nil && strings.TrimSpace(string(order)) != little {
		err = faultf("its numbers are in the byte order %q, want %q", order, little)
	}
	return err
}

// place opens a storage at its first byte.
type place func() (io.Reader, error)

// stateNames are the keys under which training loops keep the weights among other things.
var stateNames = []string{"state_dict", "model_state_dict", "model_state", "model", "network", "net", "weights",
	"params", "ema_state_dict"}

// stateFile makes a file of a pickle's object: a dictionary of tensors by name, or one that holds such a
// dictionary. find returns the place of a storage.
func stateFile(format string, root any, find func(*storage) (place, error)) (*File, error) {
	state, err := stateDict(root)
	if err != nil {
		return nil, err
	}
	f := &File{Format: format}
	for i, key := range state.keys {
		t, ok := state.values[i].(*pickledTensor)
		if !ok {
			continue // numbers of epochs and the like
		}
		name, ok := key.(string)
		if !ok {
			return nil, faultf("a tensor with a %s for a name", kind(key))
		}
		a, err := t.array(name, find)
		if err != nil {
			return nil, faultf("tensor %q: %v", clip(name), err)
		}
		f.arrays = append(f.arrays, a)
	}
	return f, nil
}

func stateDict(root any) (*dict, error) {
	const deepest = 3
	for range deepest {
		d, ok := root.(*dict)
		if !ok {
			return nil, faultf("it holds a %s, want a dictionary of tensors (net.state_dict())", kind(root))
		}
		if d.holdsTensors() {
			return d, nil
		}
		if root = d.first(stateNames); root == nil {
			return nil, faultf(
				"it holds a dictionary of %s, without tensors: want net.state_dict(), or one with it under %q",
				d.describe(), stateNames[0])
		}
	}
	return nil, faultf("it holds dictionaries in dictionaries, and no tensors")
}

func (d *dict) holdsTensors() bool {
	return slices.ContainsFunc(d.values, func(v any) bool { _, is := v.(*pickledTensor); return is })
}

// first is the value of the first of the names that there is.
func (d *dict) first(names []string) any {
	for _, name := range names {
		for i, key := range d.keys {
			if key == any(name) {
				return d.values[i]
			}
		}
	}
	return nil
}

func (d *dict) describe() string {
	const most = 8
	var keys []string
	for _, key := range d.keys[:min(most, len(d.keys))] {
		name, ok := key.(string)
		if !ok {
			name = kind(key)
		}
		keys = append(keys, clip(name))
	}
	if len(d.keys) > most {
		keys = append(keys, "...")
	}
	return fmt.Sprintf("%d entries (%s)", len(d.keys), strings.Join(keys, ", "))
}
