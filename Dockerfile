# Images of nmn; docs/containers.md tells how they are run.
#
#   docker build --target cpu  -t nmn:cpu  .    one static binary and nothing else
#   docker build --target cuda -t nmn:cuda .    with the CUDA engine, for hosts with a graphics card
#
# container_test.go holds the versions to go.mod and cuda/toolkit/requirements.txt.
ARG GO_VERSION=1.26.8
ARG DEBIAN_RELEASE=bookworm
ARG CUDA_VERSION=13.0.1
ARG CUDNN_VERSION=9.13.0.50
ARG UBUNTU_VERSION=24.04

# The host's own Go compiles for the platform that is asked for: no emulation.
FROM --platform=$BUILDPLATFORM golang:${GO_VERSION}-${DEBIAN_RELEASE} AS modules
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

# The compiler of CUDA and the headers of cuDNN, pinned by digest. They depend on nothing else of the
# sources, so that a change of those does not install them anew.
FROM modules AS toolkit
RUN apt-get update && apt-get install --yes --no-install-recommends python3-pip && rm -rf /var/lib/apt/lists/*
COPY cuda/toolkit cuda/toolkit
RUN --mount=type=cache,target=/root/.cache \
    go run ./cuda/toolkit install

# The kernels that are checked in must be what this compiler makes of their sources, byte for byte.
FROM toolkit AS build-cuda
ARG REVISION=
COPY . .
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache \
    cp kernels/kernels.fatbin /tmp/kept.fatbin && \
    go run ./cuda/toolkit exec go run ./kernels/gen -fatbin && \
    cmp kernels/kernels.fatbin /tmp/kept.fatbin
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache \
    go run ./cuda/toolkit exec \
    go build -tags cuda -trimpath -ldflags="-s -w -buildid= -X nmn/run.revision=${REVISION}" -o /out/nmn ./cmd/nmn
RUN mkdir /out/runs /out/cache

# The driver comes from the host (--gpus); CUDA and cuDNN from the base image.
FROM nvidia/cuda:${CUDA_VERSION}-cudnn-runtime-ubuntu${UBUNTU_VERSION} AS cuda
ARG CUDNN_VERSION
ARG REVISION=
LABEL org.opencontainers.image.title="nmn with CUDA" \
      org.opencontainers.image.description="Trains image classifiers from wrong and missing labels, on a graphics card" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.revision="${REVISION}"
RUN test "${NV_CUDNN_VERSION%-*}" = "${CUDNN_VERSION}" || \
    { echo "the base image has cuDNN ${NV_CUDNN_VERSION}, want ${CUDNN_VERSION}: name another CUDA_VERSION" >&2; exit 1; }
COPY --from=build-cuda /out/nmn /usr/local/bin/nmn
COPY --from=build-cuda --chown=65532:65532 /out/runs /runs
COPY --from=build-cuda --chown=65532:65532 /out/cache /cache
# The cache folder keeps which convolutions were fastest on a card, and what the driver has compiled for
# a card that is newer than the kernels.
ENV XDG_CACHE_HOME=/cache CUDA_CACHE_PATH=/cache/driver NMN_METRICS_ADDR=0.0.0.0:9090
USER 65532:65532
WORKDIR /
VOLUME ["/runs", "/cache"]
EXPOSE 9090
HEALTHCHECK --interval=30s --timeout=5s --start-period=5m CMD ["nmn", "healthcheck"]
ENTRYPOINT ["nmn"]
CMD ["--help"]

# No C library, no shell, no certificates: nmn is static and downloads nothing.
FROM scratch AS cpu
ARG REVISION=
LABEL org.opencontainers.image.title="nmn" \
      org.opencontainers.image.description="Trains image classifiers from wrong and missing labels" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.revision="${REVISION}"
COPY --from=build-cpu /out/nmn /nmn
COPY --from=build-cpu --chown=65532:65532 /out/runs /runs
ENV NMN_METRICS_ADDR=0.0.0.0:9090
USER 65532:65532
WORKDIR /
VOLUME ["/runs"]
EXPOSE 9090
HEALTHCHECK --interval=30s --timeout=5s --start-period=5m CMD ["/nmn", "healthcheck"]
ENTRYPOINT ["/nmn"]
CMD ["--help"]
