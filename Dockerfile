# Images of nmn. docs/guide/containers.md explains how to run them.
#
#   docker build --target cpu  -t nmn:cpu  .    one static binary and nothing else
#   docker build --target cuda -t nmn:cuda .    with the CUDA engine, for hosts with a graphics card
#   docker build --target mpi  -t nmn:mpi  .    with Open MPI and an ssh server, for ranks on many hosts
#   docker build --target cuda-mpi -t nmn:cuda-mpi .    both
#
# Base images are pinned by the digest of their index, so that builds repeat. The tag names the version of the
# digest. container_test.go compares the versions with go.mod and tools/toolkit/requirements.txt.
ARG GO_IMAGE=golang:1.26.8-bookworm@sha256:9fdc884aacc3bec89b20ffc69f4bb369c78210e3e4f600387b5128b12c199f81
ARG DEBIAN_IMAGE=debian:12.12-slim@sha256:d5d3f9c23164ea16f31852f95bd5959aad1c5e854332fe00f7b3a20fcc9f635c
ARG CUDA_IMAGE=nvidia/cuda:13.0.1-runtime-ubuntu24.04@sha256:c3fde347d52d578c84fd644bc177bc7ec333feaf11550d990da4084d7612e4c7

# The host's Go cross-compiles for the requested platform, without emulation.
FROM --platform=$BUILDPLATFORM ${GO_IMAGE} AS modules
WORKDIR /src
ENV GOTOOLCHAIN=local GOFLAGS=-mod=readonly
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/go/pkg/mod \
    go mod download

FROM modules AS build-cpu
ARG TARGETOS
ARG TARGETARCH
ARG REVISION=
COPY . .
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    CGO_ENABLED=0 GOOS=${TARGETOS} GOARCH=${TARGETARCH} \
    go build -trimpath -ldflags="-s -w -buildid= -X nmn/run.revision=${REVISION}" -o /out/nmn ./cmd/nmn
RUN mkdir /out/runs
RUN --mount=type=cache,target=/go/pkg/mod \
    go run ./tools/licences /out/licenses

# The CUDA compiler and the headers of cuDNN, pinned by digest. This stage uses no other source
# file, so that changes elsewhere do not install them again.
FROM modules AS toolkit
RUN apt-get update && apt-get install --yes --no-install-recommends python3-pip && rm -rf /var/lib/apt/lists/*
COPY tools/toolkit tools/toolkit
RUN --mount=type=cache,target=/root/.cache \
    go run ./tools/toolkit install

# This compiler must produce the checked-in kernels from their sources, byte for byte.
FROM toolkit AS build-cuda
ARG REVISION=
COPY . .
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache \
    cp kernels/kernels.fatbin /tmp/kept.fatbin && \
    go run ./tools/toolkit exec go run ./tools/launchgen -fatbin && \
    cmp kernels/kernels.fatbin /tmp/kept.fatbin
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache \
    go run ./tools/toolkit exec \
    go build -tags cuda -trimpath -ldflags="-s -w -buildid= -X nmn/run.revision=${REVISION}" -o /out/nmn ./cmd/nmn
RUN mkdir /out/runs /out/cache
# cuDNN comes from the wheel that contains its headers and its licence.
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache \
    go run ./tools/licences /out/licenses -tags=cuda && \
    mkdir /out/licenses/cudnn && cp build/cuda-toolkit/nvidia_cudnn_cu13-*.dist-info/licenses/* /out/licenses/cudnn && \
    cp -rL build/cuda-toolkit/nvidia/cudnn/lib /out/cudnn && rm -f /out/cudnn/*.a /out/cudnn/*.py

# A C compiler links Open MPI, so these programs run on the kind of processor that builds them.
FROM modules AS build-mpi
ARG TARGETARCH
ARG REVISION=
RUN test -z "${TARGETARCH}" || test "${TARGETARCH}" = "$(go env GOARCH)" || \
    { echo "build the targets mpi and cuda-mpi on ${TARGETARCH}" >&2; exit 1; }
RUN apt-get update && apt-get install --yes --no-install-recommends libopenmpi-dev pkg-config && \
    rm -rf /var/lib/apt/lists/*
COPY . .
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    CGO_ENABLED=1 \
    go build -tags mpi -trimpath -ldflags="-s -w -buildid= -X nmn/run.revision=${REVISION}" -o /out/nmn ./cmd/nmn
RUN mkdir /out/runs /out/cache
RUN --mount=type=cache,target=/go/pkg/mod \
    CGO_ENABLED=1 go run ./tools/licences /out/licenses -tags=mpi

FROM build-cuda AS build-cuda-mpi
ARG REVISION=
RUN apt-get update && apt-get install --yes --no-install-recommends libopenmpi-dev pkg-config && \
    rm -rf /var/lib/apt/lists/*
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache \
    go run ./tools/toolkit exec \
    go build -tags "cuda mpi" -trimpath -ldflags="-s -w -buildid= -X nmn/run.revision=${REVISION}" -o /out/nmn ./cmd/nmn
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache \
    CGO_ENABLED=1 go run ./tools/licences /out/licenses -tags=cuda,mpi

# The driver comes from the host (--gpus), CUDA from the base image.
FROM ${CUDA_IMAGE} AS cuda
ARG REVISION=
LABEL org.opencontainers.image.title="nmn with CUDA" \
      org.opencontainers.image.description="Trains image classifiers from wrong and missing labels, on a graphics card" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.revision="${REVISION}"
COPY --from=build-cuda /out/cudnn/ /usr/lib/x86_64-linux-gnu/
COPY --from=build-cuda /out/licenses /licenses
COPY --from=build-cuda /out/nmn /usr/local/bin/nmn
COPY --from=build-cuda --chown=65532:65532 /out/runs /runs
COPY --from=build-cuda --chown=65532:65532 /out/cache /cache
# The cache folder stores the fastest convolutions of a card, and the driver's compiled code for cards newer
# than the kernels.
ENV XDG_CACHE_HOME=/cache CUDA_CACHE_PATH=/cache/driver NMN_METRICS_ADDR=0.0.0.0:9090
USER 65532:65532
WORKDIR /
VOLUME ["/runs", "/cache"]
EXPOSE 9090
ENTRYPOINT ["nmn"]
CMD ["--help"]

# Ranks on many hosts: Open MPI, and an ssh server without root, through which mpirun reaches the workers of an
# MPIJob. The job brings the keys (docs/guide/kubernetes.md).
FROM ${CUDA_IMAGE} AS cuda-mpi
# NCCL comes with the base image.
RUN ldconfig -p | grep -q libnccl.so.2
ARG REVISION=
LABEL org.opencontainers.image.title="nmn with CUDA and Open MPI" \
      org.opencontainers.image.description="Trains image classifiers from wrong and missing labels, on the graphics cards of many hosts" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.revision="${REVISION}"
COPY docker/mpi/install /tmp/install
RUN /tmp/install && rm /tmp/install
COPY docker/mpi/sshd_config docker/mpi/known-host /etc/ssh/nmn/
COPY docker/mpi/ssh_config /etc/ssh/ssh_config.d/nmn.conf
COPY --from=build-cuda /out/cudnn/ /usr/lib/x86_64-linux-gnu/
COPY --from=build-cuda-mpi /out/licenses /licenses
COPY --from=build-cuda-mpi /out/nmn /usr/local/bin/nmn
COPY --from=build-cuda-mpi --chown=65532:65532 /out/runs /runs
COPY --from=build-cuda-mpi --chown=65532:65532 /out/cache /cache
ENV XDG_CACHE_HOME=/cache CUDA_CACHE_PATH=/cache/driver NMN_METRICS_ADDR=0.0.0.0:9090
USER 65532:65532
WORKDIR /
VOLUME ["/runs", "/cache"]
EXPOSE 9090
ENTRYPOINT ["nmn"]
CMD ["--help"]

FROM ${DEBIAN_IMAGE} AS mpi
ARG REVISION=
LABEL org.opencontainers.image.title="nmn with Open MPI" \
      org.opencontainers.image.description="Trains image classifiers from wrong and missing labels, on the processors of many hosts" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.revision="${REVISION}"
COPY docker/mpi/install /tmp/install
RUN /tmp/install && rm /tmp/install
COPY docker/mpi/sshd_config docker/mpi/known-host /etc/ssh/nmn/
COPY docker/mpi/ssh_config /etc/ssh/ssh_config.d/nmn.conf
COPY --from=build-mpi /out/licenses /licenses
COPY --from=build-mpi /out/nmn /usr/local/bin/nmn
COPY --from=build-mpi --chown=65532:65532 /out/runs /runs
COPY --from=build-mpi --chown=65532:65532 /out/cache /cache
ENV XDG_CACHE_HOME=/cache NMN_METRICS_ADDR=0.0.0.0:9090
USER 65532:65532
WORKDIR /
VOLUME ["/runs", "/cache"]
EXPOSE 9090
ENTRYPOINT ["nmn"]
CMD ["--help"]

# No C library, no shell, no certificates: nmn is static and downloads nothing.
FROM scratch AS cpu
ARG REVISION=
LABEL org.opencontainers.image.title="nmn" \
      org.opencontainers.image.description="Trains image classifiers from wrong and missing labels" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.revision="${REVISION}"
COPY --from=build-cpu /out/licenses /licenses
COPY --from=build-cpu /out/nmn /nmn
COPY --from=build-cpu --chown=65532:65532 /out/runs /runs
ENV NMN_METRICS_ADDR=0.0.0.0:9090
USER 65532:65532
WORKDIR /
VOLUME ["/runs"]
EXPOSE 9090
ENTRYPOINT ["/nmn"]
CMD ["--help"]
