# partner-sync as an image: the worker, the sandbox and every other command.
# Checked statically only: there was no container engine where this was developed.
#   docker build -t partner-sync .
#   docker run --rm partner-sync --help
#   docker run -d --stop-timeout 60 --env-file worker.env -v ./mappings:/mappings:ro partner-sync
# The image contains no mappings: mount the folder of your syncs at /mappings.
# Sources other than PostgreSQL need their drivers (docs/sources.md); separate several with spaces:
#   docker build --build-arg DRIVERS=mysql2@3 -t partner-sync .

FROM node:20-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# Skips install scripts: there are only those of the embedded PostgreSQL, which no image needs.
RUN npm ci --ignore-scripts
COPY . .
# In a clone, the drivers are development dependencies, which --omit=dev leaves out unless they are saved as others. Their install scripts must run: SQLite's downloads its native part.
ARG DRIVERS=
RUN npm run build \
  && npm prune --omit=dev --ignore-scripts \
  && if [ -n "$DRIVERS" ]; then npm install --no-save --save-prod --omit=dev $DRIVERS; fi

FROM node:20-slim
# The connection to Temporal checks certificates against the system's, and the slim image contains none.
RUN apt-get update \
  && apt-get install -y --no-install-recommends ca-certificates \
  && rm -rf /var/lib/apt/lists/*
ENV NODE_ENV=production PARTNER_SYNC_MAPPINGS=/mappings
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY --from=build /app/bin ./bin
# What the stack and the console share with the scripts of a clone.
COPY --from=build /app/scripts/stack ./scripts/stack
# The schemas of the mapping language; no sync.
COPY --from=build /app/mappings/*.schema.json ./mappings/
# A number, so that Kubernetes can see that the user is not root. The user owns no files here, so the program cannot
# change itself.
USER 1000:1000
# One process, started directly, so that SIGTERM reaches it and it drains.
ENTRYPOINT ["node", "--max-semi-space-size=16", "bin/partner-sync.js"]
CMD ["worker"]
