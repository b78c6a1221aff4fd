//go:build cuda

package kernels

import (
	_ "embed" // the kernels
	"errors"

	"nmn/cuda"
	"nmn/cuda/cudnn"
	"nmn/kernels/activation"
	"nmn/kernels/conv"
	"nmn/kernels/noise"
	"nmn/kernels/pixels"
	"nmn/kernels/pool"
	"nmn/kernels/product"
	"nmn/kernels/recurrent"
	"nmn/kernels/reduce"
	"nmn/kernels/tensor"
	"nmn/kernels/transformer"
	"nmn/kernels/update"
)

// fatbin is kernels.cu, compiled by tools/launchgen for all architectures that are supported.
//
//go:embed kernels.fatbin
var fatbin string

// The families' implementations under names of their own, so that one struct can embed them all.
type (
	cardMemory         = tensor.CUDA
	cardConvolutions   = conv.CUDA
	cardActivations    = activation.CUDA
	cardPools          = pool.CUDA
	cardNoiseModel     = noise.CUDA
	cardUpdates        = update.CUDA
	cardNormalizations = pixels.CUDA
	cardSequences      = recurrent.CUDA
	cardTransformers   = transformer.CUDA
	cardSums           = reduce.CUDA
)

// card is the Backend of a graphics card.
type card struct {
	*cardMemory
	*cardConvolutions
	*cardActivations
	*cardPools
	*cardNoiseModel
	*cardUpdates
	*cardNormalizations
	*cardSequences
	*cardTransformers
	*cardSums // over ranks

	products *product.Products // 1×1 convolutions; not an operation by itself

	library    *cudnn.Handle
	marks      []*cuda.Event // of Mark, by number; the device frees them
	unrecorded bool          // as CUDAConfig.NoGraphs
	sections   *cuda.Sections
}

// CUDAConfig chooses how a graphics card computes.
type CUDAConfig struct {
	Ordinal   int // number of the card, from 0
	Precision tensor.Precision
	Device    cuda.Options
	Plans     cudnn.Options
	// Products names the library that computes all products; empty for the faster one.
	Products product.Library
	// NoGraphs launches the kernels of a step one by one instead of recording them.
	NoGraphs bool
	// NVTX names layers and phases to the profiler that has started this program, if any.
	NVTX bool
}

// OpenCUDA opens a graphics card as a backend. The error may wrap an error of packages cuda, cudnn and
// tensor: cuda.ErrNoDriver, ErrOldDriver, ErrNoDevice, ErrArchitecture, ErrOutOfMemory, cudnn.ErrNoLibrary,
// tensor.ErrPrecision.
func OpenCUDA(c CUDAConfig) (Backend, error) {
	device, err := tensor.NewCUDA(c.Ordinal, c.Device, c.Precision)
	if err != nil {
		return nil, err
	}
	b := &card{cardMemory: device, unrecorded: c.NoGraphs}
	if c.NVTX {
		b.sections, err = cuda.OpenSections()
	}
	if err == nil {
		err = b.join(c.Plans, c.Products)
	}
	if err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// join opens the libraries and makes all families on the device.
func (b *card) join(plans cudnn.Options, only product.Library) (err error) {
	device := b.cardMemory
	if b.library, err = cudnn.Open(device.Stream, plans); err != nil {
		return err
	}
	b.products, err = product.New(device, b.library, product.Options{
		CacheFolder: plans.CacheFolder, Logger: plans.Logger, Only: only,
	})
	if err != nil {
		return err
	}
	module, err := device.Device.LoadModule("kernels", fatbin)
	if err != nil {
		return err
	}
	var errs [9]error
	b.cardConvolutions, errs[0] = conv.NewCUDA(device, module, b.library)
	b.cardActivations, errs[1] = activation.NewCUDA(device, module)
	b.cardPools, errs[2] = pool.NewCUDA(device, module)
	b.cardNoiseModel, errs[3] = noise.NewCUDA(device, module)
	b.cardUpdates, errs[4] = update.NewCUDA(device, module)
	b.cardNormalizations, errs[5] = pixels.NewCUDA(device, module)
	b.cardSequences, errs[6] = recurrent.NewCUDA(device, module, b.products)
	b.cardSums, errs[7] = reduce.NewCUDA(device, module, plans.Logger)
	b.cardTransformers, errs[8] = transformer.NewCUDA(device, module, b.cardConvolutions)
	return errors.Join(errs[:]...)
}

// Close implements tensor.Device. It also frees cuDNN's memory.
func (b *card) Close() error {
	var err error
	if b.cardSums != nil {
		err = b.cardSums.Close()
	}
	if b.products != nil {
		err = errors.Join(err, b.products.Close())
	}
	if b.library != nil {
		err = errors.Join(err, b.library.Close())
	}
	return errors.Join(err, b.cardMemory.Close())
}
