//go:build cuda

package cuda

import (
	"errors"
	"fmt"
	"runtime"

	"gorgonia.org/cu"
)

// call runs a call of the driver with the device's context current on the thread. Its error names the
// operation and its subject.
func (d *Device) call(operation, subject string, f func() error) error {
	d.mu.Lock()
	failed, closed := d.failed, d.closed
	d.mu.Unlock()
	switch {
	case closed:
		return fmt.Errorf("cuda: %s: %w", phrase(operation, subject), ErrClosed)
	case failed != nil:
		return fmt.Errorf("cuda: %s: after a failure before: %w", phrase(operation, subject), failed)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := cu.SetCurrentContext(d.context)
	if err == nil {
		err = f()
	}
	if err == nil {
		return nil
	}
	return d.describe(phrase(operation, subject), codeOf(err))
}

// Do runs f, which calls a library that works on the current device, with the device's context current
// on its thread. The error of f comes back as it is.
func (d *Device) Do(f func() error) error {
	var inner error
	err := d.call("make the context current", "", func() error {
		inner = f()
		return nil
	})
	if err != nil {
		return err
	}
	return inner
}

// Finish is Do for calls that free something. It also runs them on a failed device, and returns nil there,
// because the failure was reported before.
func (d *Device) Finish(f func() error) error {
	d.mu.Lock()
	reported := d.failed != nil
	d.mu.Unlock()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := cu.SetCurrentContext(d.context)
	if err != nil {
		err = newError("make the context current", codeOf(err), nil)
	}
	if err = errors.Join(err, f()); reported {
		return nil
	}
	return err
}

// finish is call for calls that must run on any device, closed or failed, since they free something.
func (d *Device) finish(operation, subject string, f func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := cu.SetCurrentContext(d.context)
	if failed := f(); failed != nil {
		err = failed
	}
	if err == nil {
		return nil
	}
	return d.describe(phrase(operation, subject), codeOf(err))
}

func phrase(operation, subject string) string {
	if subject == "" {
		return operation
	}
	return operation + " " + subject
}

// describe makes the error of a code and keeps errors from which the device cannot recover.
func (d *Device) describe(operation string, code int) error {
	var err error = newError(operation, code, nil)
	d.mu.Lock()
	defer d.mu.Unlock()
	if errors.Is(err, ErrFault) {
		err = d.fault(operation, code)
	}
	if d.failed == nil && (errors.Is(err, ErrFault) || errors.Is(err, ErrDeviceLost)) {
		d.failed = err
	}
	return err
}

// own records an object that Close must release.
func (d *Device) own(o owned) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.owned = append(d.owned, o)
}

// disown removes an object that its owner releases now. It reports whether the device still had it.
func (d *Device) disown(o owned) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := len(d.owned) - 1; i >= 0; i-- {
		if d.owned[i] == o {
			d.owned = append(d.owned[:i], d.owned[i+1:]...)
			return true
		}
	}
	return false
}

// discard releases an object that a user closes. Closing it again does nothing.
func (d *Device) discard(operation, subject string, o owned) error {
	if !d.disown(o) {
		return nil
	}
	return d.giveBack(operation, subject, o.release)
}

// giveBack is finish without an error after a failure of the device, which was reported before and which
// every call returns since.
func (d *Device) giveBack(operation, subject string, f func() error) error {
	d.mu.Lock()
	reported := d.failed != nil
	d.mu.Unlock()
	err := d.finish(operation, subject, f)
	if reported {
		return nil
	}
	return err
}
