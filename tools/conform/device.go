package conform

import (
	"cmp"
	"errors"
	"os"
	"testing"

	"nmn/kernels"
	"nmn/kernels/tensor"
)

// DeviceEnv is the environment variable that names the device that OpenDevice opens, as --device has
// it.
const DeviceEnv = "NMN_TEST_DEVICE"

// OpenDevice opens the device that DeviceEnv names, by default the host, in float32, and closes it when the
// test ends. The golden numbers of whole nets hold on all devices.
func OpenDevice(t testing.TB, threads int) kernels.Backend {
	t.Helper()
	return OpenDeviceIn(t, threads, tensor.FP32)
}

// OpenDeviceIn opens that device in a precision. The test is skipped if the device does not have it.
func OpenDeviceIn(t testing.TB, threads int, p tensor.Precision) kernels.Backend {
	t.Helper()
	return openDevice(t, kernels.Config{Threads: threads, Precision: p})
}

// OpenForFeatures is OpenDeviceIn for nets that do not learn, which the host also computes in bfloat16.
func OpenForFeatures(t testing.TB, threads int, p tensor.Precision) kernels.Backend {
	t.Helper()
	return openDevice(t, kernels.Config{Threads: threads, Precision: p, Features: true})
}

func openDevice(t testing.TB, c kernels.Config) kernels.Backend {
	t.Helper()
	c.Device = cmp.Or(c.Device, os.Getenv(DeviceEnv), "cpu")
	backend, note, err := kernels.Open(c)
	if errors.Is(err, tensor.ErrPrecision) {
		Skip(t, string(c.Precision), err.Error())
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Log(backend.Name(), note)
	t.Cleanup(func() {
		if err := backend.Close(); err != nil {
			t.Error(err)
		}
	})
	return backend
}

// OpenCPU opens the host, whatever DeviceEnv names, and closes it when the test ends.
func OpenCPU(t testing.TB, threads int) kernels.Backend {
	t.Helper()
	return openDevice(t, kernels.Config{Device: "cpu", Threads: threads})
}

// Put copies numbers to a tensor in the tensor's type: float32, or rounded to bfloat16. If the tensor's last
// dimension is larger than the numbers', the rest of it becomes 0.
func Put(t testing.TB, device tensor.Device, to *tensor.Tensor, numbers []float32) {
	t.Helper()
	held := to.Dim(-1)
	given := held * len(numbers) / max(to.Len(), 1)
	all := make([]float32, to.Len())
	for row := range to.Len() / held {
		copy(all[row*held:(row+1)*held], numbers[row*given:(row+1)*given])
	}
	if err := device.Upload(to, tensor.HostArray(to.DType(), all)); err != nil {
		t.Fatalf("upload: %v", err)
	}
}
