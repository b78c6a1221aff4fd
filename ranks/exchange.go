package ranks

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
)

// Exchange is Gather for messages of any length, among ranks that may have failed before: err is this rank's failure,
// nil for none. If no rank has failed it returns the messages of all ranks; otherwise it returns an error on every
// rank, as Agree does, and the group goes on.
func Exchange(g Group, own []byte, err error) ([][]byte, error) {
	if g.Size() == 1 {
		return [][]byte{own}, err
	}
	told := append(make([]byte, longPrefix), status(err)...)
	if err == nil {
		told = append(told, own...)
	}
	all, gathering := gatherLong(g, told, longPiece)
	switch {
	case err != nil && (gathering == nil || errors.Is(err, gathering)):
		return nil, err
	case gathering != nil:
		return nil, errors.Join(err, gathering)
	}
	if err := heard(g, all); err != nil {
		return nil, err
	}
	for rank, told := range all {
		if len(told) == 0 {
			return nil, fmt.Errorf("group: rank %d (%s) exchanges nothing", rank, g.Names()[rank])
		}
		all[rank] = told[1:]
	}
	return all, nil
}

// Every is Exchange for values that encoding/gob can encode: it returns the values of all ranks, in the order
// of the ranks.
func Every[T any](g Group, own T, err error) ([]T, error) {
	if g.Size() == 1 {
		return []T{own}, err
	}
	var b bytes.Buffer
	if err == nil {
		err = gob.NewEncoder(&b).Encode(&own)
	}
	all, err := Exchange(g, b.Bytes(), err)
	if err != nil {
		return nil, err
	}
	values := make([]T, len(all))
	for rank, told := range all {
		if err := gob.NewDecoder(bytes.NewReader(told)).Decode(&values[rank]); err != nil {
			return nil, fmt.Errorf("group: cannot read what rank %d (%s) sends: %w", rank, g.Names()[rank], err)
		}
	}
	return values, nil
}
