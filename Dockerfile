# The base images are tags. If you publish the image, pin both by digest; see "The image" in docs/operations.md:
#   docker build --build-arg BUILD_IMAGE=node:22-bookworm-slim@sha256:… --build-arg RUN_IMAGE=node:22-bookworm-slim@sha256:… .
ARG BUILD_IMAGE=node:22-bookworm-slim
ARG RUN_IMAGE=node:22-bookworm-slim

FROM ${BUILD_IMAGE} AS build
WORKDIR /build
COPY package.json package-lock.json ./
COPY scripts/node-bin-setup ./scripts/node-bin-setup
RUN ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
COPY LICENSE tsconfig.json tsconfig.build.json ./
COPY scripts ./scripts
COPY schema ./schema
COPY src ./src
COPY jobs ./jobs
RUN ["node", "scripts/build.mjs"]
RUN ["node", "scripts/image-app.mjs", "/app"]

FROM ${RUN_IMAGE}
ARG REVISION=unknown
LABEL org.opencontainers.image.title="daywalk" \
      org.opencontainers.image.description="Exact, resumable export of an AI agent platform's daily analytics into SQL tables" \
      org.opencontainers.image.version="0.1.0" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.revision="${REVISION}"
ENV NODE_ENV=production \
    DAYWALK_WAREHOUSE=/data/daywalk.db \
    DAYWALK_LOG=json \
    TMPDIR=/data
COPY --from=build /app /app
RUN ["install", "-d", "-o", "1000", "-g", "1000", "-m", "0700", "/data"]
# A number, so that Kubernetes can verify that the user is not root.
USER 1000:1000
# Daywalk reads .env from the working directory and writes only there: the warehouse, its archive, and temporary files.
WORKDIR /data
VOLUME ["/data"]
# Daywalk handles SIGTERM and SIGINT: it ends between two units within 5 seconds. The entry script handles signals before Node can.
STOPSIGNAL SIGTERM
# Healthy as docs/operations.md explains: by default if a complete export ended within 26 hours. Kubernetes ignores it.
HEALTHCHECK --interval=15m --timeout=30s --start-period=2h --retries=1 \
  CMD ["node", "/app/dist/src/cli/main.js", "status", "--health"]
ENTRYPOINT ["/bin/sh", "/app/entry.sh"]
CMD ["run"]
