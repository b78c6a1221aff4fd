package turbo

import "errors"

// ErrMissing marks that libjpeg-turbo is not there, or that this build cannot use it.
var ErrMissing = errors.New("libjpeg-turbo (libturbojpeg.so.0) cannot be used")
