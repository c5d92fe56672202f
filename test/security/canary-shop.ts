/** A shop whose every input holds canaries, with all that partner-sync writes to: servers, logs, files, process titles. */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import pg from 'pg';
import { pino } from 'pino';
import { inject } from 'vitest';
import { endWithOwner } from '../../src/embedded/end-with-owner.js';
import { findTemporal } from '../../src/embedded/temporal-cli.js';
import { startTemporal } from '../../src/embedded/temporal-server.js';
import { startSandbox } from '../../src/sandbox/server.js';
import { mintToken } from '../../src/sandbox/token.js';
import { commandEnd, type CommandEnd } from '../cli/command-line.js';
import { createDatabase, type Database } from '../databases.js';
import { startProxy, type PlatformProxy } from '../pipeline/platform-proxy.js';
import { CLI } from '../pipeline/worker-process.js';
import { IDS, PERSONAL, SECRETS, WITNESS } from './canaries.js';

/** Syncs beside {@link WITNESS}, whose sources fail: one rejects the password, the other quotes a row in its error. */
export const WRONG_PASSWORD = `${WITNESS}-password`;
export const QUOTED_ROW = `${WITNESS}-cast`;

const TASK_QUEUE = 'canaries';

/** A process that goes on, with what it has written. */
export interface Running {
  readonly child: ChildProcess;
  output(): string;
  end(): Promise<number | NodeJS.Signals>;
}

export interface CanaryShop {
  readonly env: Readonly<Record<string, string>>;
  readonly source: Database;
  readonly ledger: Database;
  readonly proxy: PlatformProxy;
  readonly client: Client;
  /** The token of the platform account, whose signature is a canary. */
  readonly token: string;
  /** Current folder of all commands; TMPDIR and HOME are in it too. */
  readonly folder: string;
  /** Runs a command to its end. */
  command(args: readonly string[], env?: Readonly<Record<string, string>>): Promise<CommandEnd>;
  /** Starts a command, and resolves once it has written `ready`. */
  start(args: readonly string[], ready: string, env?: Readonly<Record<string, string>>): Promise<Running>;
  /** What the sandbox has logged. */
  sandboxLog(): string;
  /** Where Temporal's server has its database and its log. */
  readonly temporalFolder: string;
  /** The arguments of every process that ran on this machine meanwhile. */
  commandLines(): string[];
  close(): Promise<void>;
}

/** `${env:...}` in the files is read by the product; the rest is as a partner's shop may be. */
const FILES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  [WITNESS]: {
    'sync.yaml': `source: { connection: '\${env:CANARY_SOURCE_URL}' }
tenant: { column: shop, values: { n: north, s: south } }
upload: { inDoubtDelay: 1s, batchDeadline: 30s, waitForPending: 0s, batchSize: 3 }
schedules: [{ name: nightly, every: 1d, mode: full }]
alerts: [{ webhook: '\${env:CANARY_WEBHOOK_URL}' }, { email: [ops@example.org] }]
`,
    'people.mapping.yaml': `schema: person
source: { table: shop.people }
key: [id]
cursor: { column: updated_at, overlap: 0s }
fields:
  personId: id
  name: name
  email: email
  phone: phone
  note: { column: note, transforms: [{ custom: careless }] }
  status: { column: status, transforms: [{ values: { map: { A: active }, otherwise: reject } }] }
`,
    // What a user's code may do wrong: quote the value in the text of an error.
    'careless.transform.js': `export default {
  gives: 'text',
  examples: [{ in: 'a', out: 'a' }],
  apply: (value) => { if (value.endsWith('!')) throw new TypeError('cannot convert ' + value); return value; },
};
`,
    'visits.mapping.yaml': `schema: visit
source: { table: shop.visits }
key: [no]
cursor: { column: updated_at, overlap: 0s }
fields:
  visitId: no
  personId: { ref: people, column: person_id }
options: { dependencyWaitTimeout: 3600s }
`,
    'person.schema.json': schemaFile('person', 'personId', {
      personId: { type: 'string' },
      name: { type: 'string' },
      email: { type: 'string', format: 'email' },
      phone: { type: 'string' },
      note: { type: 'string' },
      status: { type: 'string' },
    }),
    'visit.schema.json': schemaFile('visit', 'visitId', {
      visitId: { type: 'string' },
      personId: { $ref: 'person' },
    }),
  },
  [WRONG_PASSWORD]: readings('CANARY_WRONG_SOURCE_URL', 'select id, name from shop.people'),
  // The database says: invalid input syntax for type integer: "kittiwake.person@..."
  [QUOTED_ROW]: readings('CANARY_SOURCE_URL', 'select id, name, email::integer as number from shop.people'),
};

function schemaFile(name: string, externalIdField: string, properties: object): string {
  const schema = { type: 'object', properties, required: [externalIdField], additionalProperties: false };
  return JSON.stringify({ name, category: 'custom_schema', externalIdField, schema });
}

function readings(variable: string, query: string): Record<string, string> {
  const column = / (?:as )?(\w+) from/.exec(query)![1]!;
  return {
    'sync.yaml': `source: { connection: '\${env:${variable}}' }\ntenant: north\n`,
    'names.mapping.yaml': `schema: person\nsource: { query: '${query}' }\nkey: [id]\nfields: { personId: id, name: { column: ${column}, transforms: [string] } }\n`,
    'person.schema.json': schemaFile('person', 'personId', {
      personId: { type: 'string' },
      name: { type: 'string' },
    }),
  };
}

const TABLES = `
  CREATE SCHEMA shop;
  CREATE TABLE shop.people (id text PRIMARY KEY, shop text NOT NULL, name text, email text, phone text, note text, status text,
    updated_at timestamptz NOT NULL DEFAULT now());
  CREATE TABLE shop.visits (no text PRIMARY KEY, shop text NOT NULL DEFAULT 'n', person_id text, updated_at timestamptz NOT NULL DEFAULT now());`;

/** A row of each kind that fails, and many that do not. */
async function fillSource(source: Database): Promise<void> {
  await source.query(TABLES);
  const person = (id: string, change: Partial<Record<'shop' | 'email' | 'note' | 'status', string>> = {}) =>
    source.query('INSERT INTO shop.people VALUES ($1, $2, $3, $4, $5, $6, $7)', [
      `${IDS['external id']}-${id}`,
      change.shop ?? (id.endsWith('1') ? 's' : 'n'),
      `${PERSONAL.name} ${PERSONAL['name that is not ASCII']} ${id}`,
      change.email ?? PERSONAL['e-mail address'],
      `+${PERSONAL.telephone}`,
      change.note ?? PERSONAL.note,
      change.status ?? 'A',
    ]);
  for (let id = 1; id <= 40; id++) await person(String(id));
  await person('no-address', { email: PERSONAL['invalid e-mail address'] });
  await person('no-status', { status: PERSONAL['word of a list'] });
  await person('no-tenant', { shop: PERSONAL['value of the tenant column'] });
  await person('no-note', { note: `${PERSONAL.note}!` });
  await source.query(`INSERT INTO shop.visits (no, person_id) VALUES ($1, $2), ($3, $4)`, [
    `${IDS['external id']}-visit-1`,
    `${IDS['external id']}-2`,
    `${IDS['external id']}-visit-2`,
    IDS['id of a missing parent'],
  ]);
}

const withAccount = (url: string, user: string, password: string): string => {
  const address = new URL(url);
  [address.username, address.password] = [user, password];
  return address.href;
};

/** Starts everything but a worker; `more` are further variables of all commands. */
export async function openCanaryShop(more: Readonly<Record<string, string>>): Promise<CanaryShop> {
  const folder = mkdtempSync(join(tmpdir(), 'canaries-'));
  for (const name of ['temporary', 'home', 'mappings']) mkdirSync(join(folder, name));
  for (const [sync, files] of Object.entries(FILES)) {
    mkdirSync(join(folder, 'mappings', sync));
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, 'mappings', sync, name), text);
  }
  const temporalFolder = mkdtempSync(join(tmpdir(), 'canaries-temporal-'));
  const log = (): void => undefined;
  const { path } = await findTemporal({ log });
  const temporal = await startTemporal({ path, folder: temporalFolder, log });

  const [source, ledger] = await Promise.all([createDatabase(), createDatabase()]);
  await fillSource(source);
  const admin = new pg.Client({ connectionString: inject('postgresUrl') });
  await admin.connect();
  const [reader, keeper] = ['reader', 'keeper'].map((name) => `${name}_${process.pid}_${Date.now()}`) as [
    string,
    string,
  ];
  await admin.query(`CREATE ROLE ${reader} LOGIN PASSWORD '${SECRETS['password of the source']}'`);
  await admin.query(`CREATE ROLE ${keeper} LOGIN PASSWORD '${SECRETS['password of the ledger']}'`);
  await source.query(`GRANT USAGE ON SCHEMA shop TO ${reader}; GRANT SELECT ON ALL TABLES IN SCHEMA shop TO ${reader}`);
  // As docs/sources.md recommends; otherwise the high watermark would be 30 seconds behind.
  await admin.query(`GRANT pg_read_all_stats TO ${reader}`);
  await ledger.query(`GRANT CREATE ON DATABASE ${new URL(ledger.url).pathname.slice(1)} TO ${keeper}`);

  let sandboxLog = '';
  const sandbox = await startSandbox({
    stateUrl: ledger.url,
    port: 0,
    jwtSecret: SECRETS['signing key of the sandbox'],
    fixture: { tenants: ['north', 'south'].map((id) => ({ id, name: id })) },
    settings: { expiryCheckInterval: 250 },
    logger: pino({ level: 'trace' }, { write: (line: string) => void (sandboxLog += line) }),
  });
  const proxy = await startProxy(sandbox.url);
  const token = await mintToken({ secret: SECRETS['signing key of the sandbox'], scope: 'platform', expiresIn: '1h' });
  const env: Record<string, string> = {
    PATH: process.env['PATH'] ?? '',
    HOME: join(folder, 'home'),
    TMPDIR: join(folder, 'temporary'),
    PARTNER_SYNC_STATE_URL: withAccount(ledger.url, keeper, SECRETS['password of the ledger']),
    PARTNER_SYNC_MAPPINGS: join(folder, 'mappings'),
    PARTNER_SYNC_TASK_QUEUE: TASK_QUEUE,
    PARTNER_SYNC_LOG_LEVEL: 'trace',
    PLATFORM_BASE_URL: proxy.url,
    PLATFORM_TOKEN: token,
    CANARY_SOURCE_URL: withAccount(source.url, reader, SECRETS['password of the source']),
    CANARY_WRONG_SOURCE_URL: withAccount(source.url, reader, SECRETS['wrong password of the source']),
    TEMPORAL_ADDRESS: temporal.address,
    TEMPORAL_API_KEY: SECRETS['API key of Temporal'],
    // Without it, a key means TLS, which Temporal's dev server does not have.
    TEMPORAL_TLS: 'false',
    ...more,
  };

  const seen = new Set<string>();
  const watch = setInterval(() => commandLinesNow().forEach((line) => seen.add(line)), 20);
  const connection = await Connection.connect({ address: temporal.address });

  const start: CanaryShop['start'] = async (args, ready, own = {}) => {
    const child = spawn(process.execPath, [CLI, ...args], {
      cwd: folder,
      env: { ...env, ...own },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    endWithOwner(child);
    let output = '';
    const ended = new Promise<number | NodeJS.Signals>((resolve) =>
      child.on('exit', (code, signal) => resolve(signal ?? code ?? -1)),
    );
    await new Promise<void>((resolve, reject) => {
      const take = (chunk: Buffer): void => {
        output += chunk.toString();
        if (output.includes(ready)) resolve();
      };
      child.stdout.on('data', take);
      child.stderr.on('data', take);
      void ended.then((how) => reject(new Error(`it ended (${how}): ${output}`)));
    });
    const end = (): Promise<number | NodeJS.Signals> => {
      child.kill('SIGTERM');
      return ended;
    };
    return { child, output: () => output, end };
  };

  return {
    env,
    source,
    ledger,
    proxy,
    client: new Client({ connection }),
    token,
    folder,
    temporalFolder,
    start,
    command: (args, own = {}) =>
      new Promise((resolve) => {
        const options = { cwd: folder, env: { ...env, ...own }, maxBuffer: 64 * 1024 * 1024 };
        execFile(process.execPath, [CLI, ...args], options, (error, stdout, stderr) =>
          resolve(commandEnd(error === null ? 0 : Number(error.code ?? -1), stdout, stderr)),
        );
      }),
    sandboxLog: () => sandboxLog,
    commandLines: () => [...seen],
    async close() {
      clearInterval(watch);
      await connection.close();
      await proxy.close();
      await sandbox.close();
      await temporal.stop();
      await Promise.all([source.drop(), ledger.drop()]);
      await admin.query(`DROP ROLE ${reader}; DROP ROLE ${keeper}`);
      await admin.end();
      for (const each of [folder, temporalFolder]) rmSync(each, { recursive: true, force: true });
    },
  };
}

/** The arguments of every process, as `ps` shows them to every account. */
const commandLinesNow = (): string[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        return [readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')];
      } catch {
        // It has ended meanwhile.
        return [];
      }
    });

/** The files in a folder and the folders in it, by their path. */
export function filesIn(folder: string): Record<string, Buffer> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const files = names.filter((name) => statSync(join(folder, name)).isFile());
  return Object.fromEntries(files.map((name) => [name, readFileSync(join(folder, name))]));
}
