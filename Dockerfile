# The command `tailspn` in an image: docker build -t tailspn . && docker run --rm -v "$PWD:/work" tailspn estimate job.toml
FROM rust:1.95-slim-bookworm AS build
WORKDIR /src
COPY . .
RUN cargo install --locked --path . --root /install \
    && /install/bin/tailspn tool setup --prefix /install

FROM debian:bookworm-slim
# the loader of Vulkan: with a driver of the host, the GPU engines find the GPU
RUN apt-get update \
    && apt-get install --yes --no-install-recommends libvulkan1=1.3.* \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --uid 10001 --create-home tailspn
COPY --from=build /install/bin/tailspn /usr/local/bin/tailspn
COPY --from=build /install/share /usr/local/share
USER 10001
WORKDIR /work
ENTRYPOINT ["tailspn"]
CMD ["--help"]
