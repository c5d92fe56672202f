#!/bin/sh
# Run once by the PostgreSQL image of docker-compose.yml: a role and a database each for the ledger and the sandbox.
set -eu

create() {
  psql --set ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname postgres --set name="$1" --set password="$2" <<'SQL'
CREATE ROLE :"name" LOGIN PASSWORD :'password';
CREATE DATABASE :"name" OWNER :"name";
REVOKE ALL ON DATABASE :"name" FROM PUBLIC;
SQL
}

create partner_sync "$PARTNER_SYNC_DB_PASSWORD"
create sandbox "$SANDBOX_DB_PASSWORD"
