//go:build cuda

package cuda

import (
	"errors"
	"fmt"
	"runtime"

	"gorgonia.org/cu"
)

// Stream is a queue of work on a device: work runs in the order in which it was enqueued.
type Stream struct {
	device    *Device
	name      string
	stream    cu.Stream
	launches  launches
	aside     uploadRing
	capturing *Graph // graph of a capture in progress, else nil
}

// NewStream makes a stream that runs in parallel with all others. Errors show its name.
func (d *Device) NewStream(name string) (*Stream, error) {
	s := &Stream{device: d, name: name}
	err := d.call("make the stream", name, func() (err error) {
		s.stream, err = cu.MakeStream(cu.NonBlocking)
		return err
	})
	if err != nil {
		return nil, err
	}
	d.own(s)
	if err := s.launches.open(d); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Device is the stream's device.
func (s *Stream) Device() *Device { return s.device }

// Handle is the CUstream, for libraries that enqueue work themselves.
func (s *Stream) Handle() uintptr { return uintptr(rawOf(&s.stream)) }

// Capturing reports whether work is being captured for a graph instead of run.
func (s *Stream) Capturing() bool { return s.capturing != nil }

// Close waits for the stream's work and destroys it.
func (s *Stream) Close() error {
	err := errors.Join(s.device.discard("destroy the stream", s.name, s), s.aside.close())
	if s.launches.mark != nil {
		err = errors.Join(err, s.launches.mark.Close())
	}
	return err
}

func (s *Stream) release() error {
	err := s.stream.Synchronize()
	if destroyed := s.stream.Destroy(); err == nil {
		err = destroyed
	}
	return err
}

// Sync waits for the stream's work. A fault is a FaultError.
func (s *Stream) Sync() error {
	if err := s.device.call("wait for the stream", s.name, s.stream.Synchronize); err != nil {
		return err
	}
	s.launches.settle()
	s.aside.filled = 0
	return nil
}

// Zero enqueues writing zeroes.
func (s *Stream) Zero(at Address, bytes int) error {
	if bytes == 0 {
		return nil
	}
	return s.device.call("write zeroes", "", func() error {
		return cu.MemsetD8Async(cu.DevicePtr(at), 0, int64(bytes), s.stream)
	})
}

// Copy enqueues copying bytes within the device. The places must not overlap.
func (s *Stream) Copy(dst, src Address, bytes int) error {
	if bytes == 0 {
		return nil
	}
	return s.device.call("copy on the device", "", func() error {
		return cu.MemcpyDtoDAsync(cu.DevicePtr(dst), cu.DevicePtr(src), int64(bytes), s.stream)
	})
}

// Upload enqueues copying host memory to the device. When it returns, src may be changed: it was copied to pinned
// memory of the stream, for the driver may read pageable memory after its call has returned. Not for captures,
// which would read that memory again at every replay.
func (s *Stream) Upload(dst Address, src []byte) error {
	if len(src) == 0 {
		return nil
	}
	if s.capturing != nil {
		return fmt.Errorf("cuda: upload %d bytes on the stream %s: it is capturing a graph", len(src), s.name)
	}
	for len(src) > 0 {
		room, err := s.aside.room(s)
		if err != nil {
			return err
		}
		n := copy(room, src)
		if err := s.upload(dst, room[:n]); err != nil {
			return err
		}
		s.aside.filled += padded(n)
		dst, src = dst+Address(n), src[n:]
	}
	return nil
}

// upload enqueues copying pinned memory.
func (s *Stream) upload(dst Address, pinned []byte) error {
	return s.device.call("upload", "", func() error {
		return cu.MemcpyHtoDAsync(cu.DevicePtr(dst), bytesOf(pinned), int64(len(pinned)), s.stream)
	})
}

// UploadPinned enqueues copying the first bytes of pinned memory to the device. They must not be
// changed until it is done.
func (s *Stream) UploadPinned(dst Address, src *HostBuffer, bytes int) error {
	if bytes > len(src.bytes) {
		return fmt.Errorf("cuda: upload %d bytes of a buffer of %d", bytes, len(src.bytes))
	}
	if bytes == 0 {
		return nil
	}
	return s.upload(dst, src.bytes[:bytes])
}

// Download waits for the stream's work and copies device memory to dst, whichever memory that is.
func (s *Stream) Download(dst []byte, src Address) error {
	if len(dst) == 0 {
		return s.Sync()
	}
	if err := s.download(dst, src); err != nil {
		return err
	}
	err := s.Sync() // the call may have returned before the copy was done, into pageable memory too
	runtime.KeepAlive(dst)
	return err
}

// DownloadPinned enqueues copying device memory to the first bytes of pinned memory. They are there when work that
// was enqueued later, such as the recording of an event, has been waited for.
func (s *Stream) DownloadPinned(dst *HostBuffer, src Address, bytes int) error {
	if bytes > len(dst.bytes) {
		return fmt.Errorf("cuda: download %d bytes to a buffer of %d", bytes, len(dst.bytes))
	}
	if bytes == 0 {
		return nil
	}
	return s.download(dst.bytes[:bytes], src)
}

func (s *Stream) download(dst []byte, src Address) error {
	if s.capturing != nil {
		return fmt.Errorf("cuda: download %d bytes on the stream %s: it is capturing a graph", len(dst), s.name)
	}
	return s.device.call("download", "", func() error {
		return cu.MemcpyDtoHAsync(bytesOf(dst), cu.DevicePtr(src), int64(len(dst)), s.stream)
	})
}
