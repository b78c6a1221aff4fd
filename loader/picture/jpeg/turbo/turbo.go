//go:build cgo && linux && (turbo || cuda)

package turbo

/*
#cgo LDFLAGS: -ldl
#include <dlfcn.h>
#include <stddef.h>

// Functions of the TurboJPEG API, as version 1.4 and all later ones have them.
typedef struct {
	void *(*create)(void);
	int (*header)(void *, const unsigned char *, unsigned long, int *, int *, int *, int *);
	int (*decode)(void *, const unsigned char *, unsigned long, unsigned char *, int, int, int, int, int);
	int (*destroy)(void *);
} library;

// openLibrary returns what is missing, or NULL.
static const char *openLibrary(library *l) {
	void *file = dlopen("libturbojpeg.so.0", RTLD_NOW | RTLD_LOCAL);
	if (!file) return dlerror();
	if (!(l->create = dlsym(file, "tjInitDecompress")) || !(l->header = dlsym(file, "tjDecompressHeader3")) ||
	    !(l->decode = dlsym(file, "tjDecompress2")) || !(l->destroy = dlsym(file, "tjDestroy")))
		return dlerror();
	return NULL;
}

enum { RGB = 0, LIMIT_SCANS = 32768 };

static void *create(const library *l) { return l->create(); }
static int destroy(const library *l, void *handle) { return l->destroy(handle); }
static int header(const library *l, void *handle, const unsigned char *data, size_t n, int *width, int *height) {
	int sampling, space;
	return l->header(handle, data, n, width, height, &sampling, &space);
}
static int decode(const library *l, void *handle, const unsigned char *data, size_t n,
                  unsigned char *rgb, int width, int height) {
	return l->decode(handle, data, n, rgb, width, 0, height, RGB, LIMIT_SCANS);
}
*/
import "C"

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"unsafe"
)

// open opens the library, once.
var open = sync.OnceValues(func() (*C.library, error) {
	l := new(C.library)
	if missing := C.openLibrary(l); missing != nil {
		return nil, fmt.Errorf("%w: %s", ErrMissing, C.GoString(missing))
	}
	return l, nil
})

// Decoder decodes files one after the other. It is not safe for concurrent use.
type Decoder struct {
	library       *C.library
	handle        unsafe.Pointer
	data          []byte
	width, height int
}

// New makes a Decoder; ErrMissing where the library is not there.
func New() (*Decoder, error) {
	l, err := open()
	if err != nil {
		return nil, err
	}
	d := &Decoder{library: l, handle: C.create(l)}
	if d.handle == nil {
		return nil, errors.New("libjpeg-turbo cannot make a decoder")
	}
	runtime.AddCleanup(d, func(handle unsafe.Pointer) { C.destroy(l, handle) }, d.handle)
	return d, nil
}

var errRefused = errors.New("libjpeg-turbo does not take the file")

// Header reads the size of a picture in pixels. The Decoder keeps data until Decode has been called.
func (d *Decoder) Header(data []byte) (width, height int, err error) {
	var w, h C.int
	if len(data) == 0 || C.header(d.library, d.handle, bytePointer(data), C.size_t(len(data)), &w, &h) != 0 {
		return 0, 0, errRefused
	}
	d.data, d.width, d.height = data, int(w), int(h)
	runtime.KeepAlive(d)
	return d.width, d.height, nil
}

// Decode writes the picture that Header has looked at as RGB of 3·width·height bytes. What libjpeg-turbo
// warns of, as of a file that is cut short, is an error here.
func (d *Decoder) Decode(rgb []uint8) error {
	data := d.data
	d.data = nil
	if len(data) == 0 || len(rgb) == 0 || len(rgb) != 3*d.width*d.height {
		return fmt.Errorf("turbo: %d bytes for a picture of %d×%d pixels", len(rgb), d.width, d.height)
	}
	refused := C.decode(d.library, d.handle, bytePointer(data), C.size_t(len(data)), bytePointer(rgb), C.int(d.width),
		C.int(d.height)) != 0
	runtime.KeepAlive(d)
	if refused {
		return errRefused
	}
	return nil
}

func bytePointer(b []byte) *C.uchar { return (*C.uchar)(unsafe.Pointer(unsafe.SliceData(b))) }
