# Stage 1 has the compiler that better-sqlite3 may need; nothing of it reaches the image that runs.
FROM node:22-bookworm AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
RUN ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
RUN ["npm", "rebuild", "better-sqlite3"]
COPY tsconfig.json tsconfig.build.json ./
COPY scripts ./scripts
COPY schema ./schema
COPY src ./src
COPY jobs ./jobs
RUN ["node", "scripts/build.mjs"]
RUN ["npm", "prune", "--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund"]

FROM node:22-bookworm-slim
ENV NODE_ENV=production \
    DAYWALK_WAREHOUSE=/data/daywalk.db \
    DAYWALK_LOG=json
WORKDIR /app
COPY --from=build /build/package.json ./package.json
COPY --from=build /build/node_modules ./node_modules
COPY --from=build /build/dist ./dist
RUN ["install", "-d", "-o", "node", "-g", "node", "-m", "0700", "/data"]
USER node
# The working directory is where a .env file is looked for; the warehouse is all that is written.
WORKDIR /data
VOLUME ["/data"]
# daywalk handles SIGTERM and SIGINT itself, also as process 1: it ends at a unit boundary within 5 seconds.
STOPSIGNAL SIGTERM
# Healthy while a complete export ended within 26 hours, or a run is under way, and no stream is silent. Kubernetes ignores it.
HEALTHCHECK --interval=15m --timeout=30s --start-period=2h --retries=1 \
  CMD ["node", "/app/dist/src/cli/main.js", "status", "--health", "--max-age", "26"]
ENTRYPOINT ["node", "/app/dist/src/cli/main.js"]
CMD ["run"]
