# Needs only Go, unless a target names more. `make help` lists the targets.
GO ?= go
RUNS ?= runs
PACKAGES ?= ./...
export CGO_ENABLED ?= 0

.PHONY: help build wheel train audit cuda cuda-toolkit train-gpu offline-bundle kernels emulate rehearse arm64 test check check-all flaky race ranks chaos format golangci lint prose types vet fuzz mutate sbom vulnerabilities module clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## build ./nmn
	$(GO) build -ldflags "-s -w" -o nmn ./cmd/nmn

wheel: ## write the wheels of the Python package into dist/, of all platforms or of those in WHEELS (WHEELS=linux-amd64)
	$(GO) run ./tools/wheel $(WHEELS)

train: build ## train on noisy scenes and print the table (some minutes; it first measures and prints how long)
	./nmn experiment --preset scenes --run-dir $(RUNS)/scenes

AUDIT = $(RUNS)/audit

audit: build $(AUDIT)/pictures/pictures.csv ## find wrong labels of scenes, correct them, train again, compare (three minutes on two cores)
	./nmn train --preset scenes $(AUDIT)/pictures/pictures.csv --set data.test_share=0.2 --epochs 12 --run-dir $(AUDIT)/before
	./nmn audit $(AUDIT)/before --noise-rates folds:2 --apply --precision 0.8 --output $(AUDIT)/fixed.csv
	./nmn train --config $(AUDIT)/fixed.yaml --run-dir $(AUDIT)/after
	./nmn audit compare $(AUDIT)/before $(AUDIT)/after
	@echo 'the page: $(AUDIT)/before/audit/audit.html'

$(AUDIT)/pictures/pictures.csv: | build
	./nmn scenes $(AUDIT)/pictures --number 4000 --flips 0.3:0.05

cuda: ## build ./nmn with CUDA (needs a C compiler, CUDA 13 and cuDNN 9: docs/guide/cuda.md)
	$(GO) run ./tools/toolkit exec $(GO) build -tags cuda -ldflags "-s -w" -o nmn ./cmd/nmn

cuda-toolkit: ## install the pinned CUDA 13, cuDNN 9 and NCCL into build/cuda-toolkit (1.7 GB, needs pip)
	$(GO) run ./tools/toolkit install

train-gpu: cuda ## train on noisy scenes on the first GPU and print the table
	./nmn experiment --preset scenes --device cuda --run-dir $(RUNS)/scenes-gpu

offline-bundle: ## pack build/nmn-gpu-bundle.tar.xz, tests and benchmarks for a GPU host without Go and network (docs/guide/cuda.md)
	bench/bundle.sh

kernels: ## write the launches of the CUDA kernels and compile them (needs make cuda-toolkit)
	$(GO) run ./tools/toolkit exec $(GO) run ./tools/launchgen -fatbin

emulate: ## run the CUDA kernels' own sources on the host: the compliance suite, whole nets and recorded training (needs make cuda-toolkit and g++; half as long with EMULATE=-short)
	$(GO) run ./tools/toolkit exec $(GO) test $(EMULATE) -tags cuda,emulate -run CUDA ./kernels ./kernels/conv
	library=$$($(GO) run ./tools/emulator/library build/emulator) && rm -rf build/emulator/cache && \
	export GOCACHE=$$($(GO) env GOCACHE) XDG_CACHE_HOME=$$PWD/build/emulator/cache && \
	export NMN_LIBCUDA=$$library NMN_LIBCUDNN=$$library NMN_LIBCUBLASLT=$$library NMN_LIBNCCL=$$library NMN_TEST_DEVICE=cuda && \
	$(GO) run ./tools/toolkit exec $(GO) test $(EMULATE) -tags cuda,emulate -run 'TinyNet|ResNet_IsThat|CUDA' ./model ./model/vit ./train ./bench/measure ./cmd/nmn && \
	$(GO) run ./tools/toolkit exec $(GO) test $(EMULATE) -tags cuda,emulate -run 'Golden|Reference|WideEnough|Resume|CUDA' ./captioner/s2vt ./captioner

rehearse: ## run bench/gpu.sh in miniature on the emulator, to test the script (needs make cuda-toolkit, g++ and Python)
	library=$$($(GO) run ./tools/emulator/library build/emulator) && \
	REHEARSAL=1 NMN_LIBCUDA=$$library NMN_LIBCUDNN=$$library OUT=build/rehearsal TOTAL=$${TOTAL:-3600} LIMITS="$${LIMITS-ops=300}" bench/gpu.sh || test $$? = 3

ARM64 ?= ./kernels/... ./loader/picture/... ./model/... ./train

arm64: ## vet the assembly of arm64, and run the short tests of the packages ARM64 under emulation (needs Debian's qemu-user; some 10 minutes on two cores)
	for system in linux darwin windows; do GOOS=$$system GOARCH=arm64 $(GO) vet ./kernels/simd || exit; done
	GOARCH=arm64 $(GO) test -exec qemu-aarch64 -timeout 60m -short $(ARM64)

test check flaky race ranks arm64: export TMPDIR := $(shell .ci/memory)

test: ## run all tests, or those of PACKAGES
	.ci/test $(PACKAGES)

check: ## in about a minute: format, vet, lint, imports, and short tests of packages that differ from the last commit (or from NMN_BASE)
	.ci/check

check-all: ## run all release checks, for hours: .ci/run on all packages, and for longer (docs/background/design.md)
	.ci/run --all

flaky: ## run all tests ROUNDS times (default 10) in random order at GOMAXPROCS 1, 2 and 8 next to busy loops, and list each failure
	.ci/flaky $${ROUNDS:-10} $(PACKAGES)

listed = $(shell $(GO) list $(PACKAGES))

race: ## run the tests under the race detector (needs a C compiler)
	$(if $(filter-out %/cmd/nmn,$(listed)),NMN_TEST_RANKS=1 CGO_ENABLED=1 $(GO) test -race -short $(filter-out %/cmd/nmn,$(listed)))
	$(if $(filter %/cmd/nmn,$(listed)),CGO_ENABLED=1 $(GO) test -race -run 'Hangups|NobodyReads|Interrupt|Progress' ./cmd/nmn)

MPI ?= mpi

ranks: ## vet a build with MPI and test it under mpirun (needs a C compiler and Open MPI with its headers; MPICH with MPI=mpich)
	CGO_ENABLED=1 $(GO) vet -tags $(MPI) ./ranks/... ./cmd/nmn
	CGO_ENABLED=1 $(GO) test -count 1 -tags $(MPI) ./ranks/...
	CGO_ENABLED=1 .ci/test -count 1 -tags $(MPI) -short -run MPI ./cmd/nmn

chaos: ## try kills, faults, signals and full disks on all commands that write, for CHAOS_MINUTES (default 10; Linux; docs/background/reliability.md)
	$(GO) run ./tools/chaos --minutes $${CHAOS_MINUTES:-10} $(CHAOS)

OTHER_PLATFORMS = linux/arm64 linux/386 darwin/arm64 windows/amd64 windows/arm64

lint: format types golangci ## run gofmt, golangci-lint and vet, and check types for other platforms and without assembly

types:
	$(GO) vet ./...
	$(GO) -C tools/extern run ./typecheck linux/amd64/noasm $(OTHER_PLATFORMS)

format:
	@found=$$(gofmt -l .) && test -z "$$found" || (echo "run gofmt -w on $$found" >&2; false)

# The linter on the PATH, or one that the first call builds.
GOLANGCI = $(or $(shell command -v golangci-lint),build/golangci-lint)
LINTED ?= ./...

golangci: $(GOLANGCI)
	$(GOLANGCI) run --allow-parallel-runners $(LINTED)

build/golangci-lint:
	@echo 'building golangci-lint into build/, once: about four minutes of a processor'
	GOBIN=$(CURDIR)/build $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0

VALE = $(or $(shell command -v vale),build/vale)

prose: $(VALE) ## check the prose of pages and comments by the rules of .ci/vale (the first time it needs a C compiler)
	git ls-files -z '*.md' '*.html' '*.js' '*.go' '*.py' '*.cu' '*.cuh' '*.h' '*.sh' ':!docs/reproduction' | xargs -0 $(VALE) --output line

build/vale:
	GOBIN=$(CURDIR)/build CGO_ENABLED=1 $(GO) install github.com/errata-ai/vale/v3/cmd/vale@v3.7.1

vet: ## vet for other platforms and without assembly (compiles everything for each)
	$(GO) vet -tags noasm ./...
	for platform in $(OTHER_PLATFORMS); do GOOS=$${platform%/*} GOARCH=$${platform#*/} $(GO) vet ./... || exit; done

fuzz: ## run every fuzz target for FUZZTIME (default 20s)
	.ci/fuzz $${FUZZTIME:-20s} $(PACKAGES)

sbom: ## write a bill of materials of the program, build/nmn.cdx.json (CycloneDX)
	mkdir -p build
	$$($(GO) -C tools/extern tool -n cyclonedx-gomod) app -json -std -licenses -noserial -main cmd/nmn -output build/nmn.cdx.json .

vulnerabilities: ## check the program's dependencies against Go's database of vulnerabilities (needs vuln.go.dev)
	$$($(GO) -C tools/extern tool -n govulncheck) ./...

mutate: ## make small mistakes in PACKAGES and in packages below them, and print the mistakes that no test finds
	for package in $(PACKAGES:/...=); do GOFLAGS='-short -count=1' $(GO) run github.com/go-gremlins/gremlins/cmd/gremlins@v0.6.0 unleash --workers 1 -S l $$package || exit; done

module: ## rename the module, so that others can require it: make module MODULE=host/owner/nmn (GNU sed)
	test -n '$(MODULE)'
	old=$$($(GO) list -m) && git ls-files -z '*.go' '*go.mod' Dockerfile | \
		xargs -0 sed -i "s#\"$$old/#\"$(MODULE)/#g; s#-X $$old/#-X $(MODULE)/#; s#^module $$old\(/\|\$$\)#module $(MODULE)\1#"
	git ls-files -z '*.go' | xargs -0 gofmt -w

clean: ## remove built files
	rm -rf nmn build dist
