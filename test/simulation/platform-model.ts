/**
 * A simulated platform (platform-api.md 4.8, 4.10, 4.14): it takes batches, applies them late and in any order, and keeps its
 * promise that a request whose response was lost is applied within `inDoubtDelay`, or never.
 */
import type { Kernel, SimulatedProcess } from './kernel.js';
import type { Random } from './random.js';
import type { PlatformRequest, PlatformResponse } from './simulation.js';

export interface PlatformFaults {
  /** How likely a request never arrives. */
  readonly lostRequest: number;
  /** How likely a request is carried out, and its response does not arrive. */
  readonly lostResponse: number;
  /** How likely a connection is lost while its request is still under way: it arrives later, as late as it may. */
  readonly impatient: number;
  /** How likely a request is answered with 503 or 429. */
  readonly busy: number;
  /** How likely a request or the work on a batch takes as long as it may. */
  readonly late: number;
  /** How likely a batch is applied twice before it is complete. */
  readonly twice: number;
  /** How likely a batch is not visible at first. */
  readonly invisible: number;
  /** How likely the list of failures or of pending records is left out. */
  readonly silent: number;
  /** Whether records that waited for the same parent are accepted in any order. */
  readonly unordered: boolean;
}

export interface StoredRecord {
  readonly data: Readonly<Record<string, unknown>>;
  /** How often it was written. */
  writes: number;
}

/** What the platform knows of a schema: its external id, and which fields refer to which schemas. */
export interface SchemaModel {
  readonly externalId: string;
  readonly references: Readonly<Record<string, string>>;
}

interface BatchRecord {
  readonly externalId: string;
  readonly data: Readonly<Record<string, unknown>>;
  outcome: 'open' | 'accepted' | 'failed' | 'pending';
  expiresAt: number;
}

interface Batch {
  readonly id: string;
  readonly tenant: string;
  readonly schema: string;
  readonly visibleAt: number;
  readonly waitFor: number;
  readonly records: readonly BatchRecord[];
  readonly silent: boolean;
}

export interface PlatformOptions {
  readonly kernel: Kernel;
  readonly random: Random;
  readonly schemas: Readonly<Record<string, SchemaModel>>;
  readonly faults: PlatformFaults;
  /** Whether a record that is not there must come with all of its fields: then there may be nothing to mark as deleted. */
  readonly wholeRecords: boolean;
  /** Milliseconds. */
  readonly inDoubtDelay: number;
  /** The most records of a request. */
  readonly mostRecords: number;
  /** Called when something happened, for traps. */
  readonly happened: (point: string, process: SimulatedProcess | null) => void;
  readonly sometimes: (what: string) => void;
  /** Called before a record is stored. */
  readonly applied: (
    tenant: string,
    schema: string,
    externalId: string,
    data: Readonly<Record<string, unknown>>,
    before: StoredRecord | undefined,
  ) => void;
  readonly note: (line: string) => void;
}

const REJECTED = 'the platform rejected a record';

export class PlatformModel {
  readonly #o: PlatformOptions;
  faults: PlatformFaults;
  readonly #stored = new Map<string, StoredRecord>();
  readonly #refused = new Set<string>();
  readonly #batches = new Map<string, Batch>();
  readonly #pending = new Set<{ readonly batch: Batch; readonly record: BatchRecord }>();
  #numbers = 0;

  constructor(options: PlatformOptions) {
    this.#o = options;
    this.faults = options.faults;
  }

  /** All records, by tenant, schema and external id. */
  get stored(): ReadonlyMap<string, StoredRecord> {
    return this.#stored;
  }

  /** Whether the record was ever refused or rejected for what its row contains. `key`: {@link storedKey}. */
  hasRefused(key: string): boolean {
    return this.#refused.has(key);
  }

  /** A request over the network: it may be lost, or its response. */
  readonly send = (request: PlatformRequest): Promise<PlatformResponse> => {
    const { kernel, random, inDoubtDelay } = this.#o;
    const { faults } = this;
    const { process } = kernel;
    return new Promise((resolve, reject) => {
      const lost = (): void =>
        void kernel.after(
          5 + random.next() * 2000,
          () => reject(Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })),
          process,
        );
      if (random.chance(faults.lostRequest)) {
        this.#o.sometimes('a request was lost');
        lost();
        return;
      }
      if (random.chance(faults.impatient)) {
        this.#o.sometimes('a request arrived after its connection was lost');
        kernel.after(random.next() * 0.5 * inDoubtDelay, () => void this.#answer(request), null);
        lost();
        return;
      }
      const slow = random.chance(faults.late);
      kernel.after(
        1 + random.next() * (slow ? 0.4 * inDoubtDelay : 40),
        () => {
          const response = this.#answer(request);
          if (response.status === 202) this.#o.happened('202', process);
          if (random.chance(faults.lostResponse)) {
            this.#o.sometimes('a response was lost');
            lost();
          } else kernel.after(1 + random.next() * 20, () => resolve(response), process);
        },
        null,
      );
    });
  };

  #answer(request: PlatformRequest): PlatformResponse {
    const { random } = this.#o;
    if (random.chance(this.faults.busy)) {
      this.#o.sometimes('the platform was busy');
      const headers: Record<string, string> = random.chance(0.5) ? { 'retry-after': String(random.between(0, 3)) } : {};
      return refusal(random.chance(0.5) ? 503 : 429, 'busy', headers);
    }
    const tenant = request.headers['service-tenant-id'] ?? '';
    const [path, query] = request.path.split('?') as [string, string?];
    const parts = path.split('/').slice(1).map(decodeURIComponent);
    if (request.method === 'POST' && parts[3] === 'batch')
      return this.#take(tenant, parts[2]!, new URLSearchParams(query), request.body);
    if (request.method === 'GET' && parts[1] === 'batches') return this.#status(tenant, parts[2]!);
    if (request.method === 'GET' && parts[1] === 'resources') return this.#resource(tenant, parts[2]!, parts[3]!);
    return refusal(404, `no such operation: ${request.method} ${path}`);
  }

  #take(tenant: string, schema: string, query: URLSearchParams, body: string): PlatformResponse {
    const { kernel, random, schemas, inDoubtDelay, mostRecords } = this.#o;
    const { resources } = JSON.parse(body) as { resources: Record<string, unknown>[] };
    const { externalId } = schemas[schema]!;
    if (resources.length > mostRecords) return refusal(413, 'too many resources');
    const refused = resources.filter((data) => String(data['name']).includes('REFUSE'));
    if (refused.length > 0) {
      for (const data of refused) this.#refused.add(storedKey(tenant, schema, String(data[externalId])));
      this.#o.sometimes('the platform refused a batch');
      return refusal(400, 'a resource is not valid');
    }
    const slow = (): boolean => random.chance(this.faults.late);
    const delay = (): number => random.next() * (slow() ? 0.45 * inDoubtDelay : 300);
    const batch: Batch = {
      id: `batch-${++this.#numbers}`,
      tenant,
      schema,
      visibleAt: kernel.now + (random.chance(this.faults.invisible) ? random.next() * 3000 : 0),
      waitFor: Number(query.get('dependencyWaitTimeout') ?? 0) * 1000,
      records: resources.map((data) => ({ externalId: String(data[externalId]), data, outcome: 'open', expiresAt: 0 })),
      silent: random.chance(this.faults.silent),
    };
    this.#batches.set(batch.id, batch);
    const until = delay();
    if (random.chance(this.faults.twice)) {
      this.#o.sometimes('a batch was applied twice');
      kernel.after(random.next() * until, () => this.#store(batch), null);
    }
    kernel.after(until, () => this.#process(batch), null);
    this.#o.note(`platform: ${batch.id} of ${tenant}: ${schema} ${batch.records.map((r) => r.externalId).join(' ')}`);
    return success(202, { batchId: batch.id, recordCount: resources.length });
  }

  /** Records whose parents are there, and that nothing else is wrong with, are stored. */
  #store(batch: Batch): void {
    for (const record of batch.records)
      if (this.#fault(batch, record) === null && this.#missing(batch, record).length === 0) this.#apply(batch, record);
  }

  #process(batch: Batch): void {
    const { kernel } = this.#o;
    for (const record of batch.records) {
      const fault = this.#fault(batch, record);
      if (fault !== null) {
        this.#o.sometimes(fault);
        if (fault === REJECTED) this.#refused.add(storedKey(batch.tenant, batch.schema, record.externalId));
        record.outcome = 'failed';
      } else if (this.#missing(batch, record).length === 0) this.#accept(batch, record);
      else if (batch.waitFor > 0) {
        this.#o.sometimes('a record was pending');
        record.outcome = 'pending';
        record.expiresAt = kernel.now + batch.waitFor;
        const pending = { batch, record };
        this.#pending.add(pending);
        kernel.after(
          batch.waitFor,
          () => {
            if (!this.#pending.delete(pending)) return;
            this.#o.sometimes('a pending record expired');
            record.outcome = 'failed';
          },
          null,
        );
      } else {
        this.#o.sometimes('a record was rejected for its parent');
        record.outcome = 'failed';
      }
    }
  }

  /** Why the record cannot be stored, whatever its parents; null if it can be. */
  #fault({ tenant, schema }: Batch, { externalId, data }: BatchRecord): string | null {
    if (String(data['name']).includes('REJECT')) return REJECTED;
    const isMark = data['name'] === undefined;
    const isThere = this.#stored.has(storedKey(tenant, schema, externalId));
    return this.#o.wholeRecords && isMark && !isThere ? 'the platform had no record to mark as deleted' : null;
  }

  #accept(batch: Batch, record: BatchRecord): void {
    record.outcome = 'accepted';
    this.#apply(batch, record);
    const waiting = [...this.#pending];
    for (const pending of this.faults.unordered ? this.#o.random.shuffled(waiting) : waiting) {
      if (!this.#pending.has(pending)) continue;
      if (pending.batch.tenant !== batch.tenant || this.#missing(pending.batch, pending.record).length > 0) continue;
      this.#pending.delete(pending);
      this.#accept(pending.batch, pending.record);
    }
  }

  #missing({ tenant, schema }: Batch, { data }: BatchRecord): { schemaName: string; externalId: string }[] {
    return Object.entries(this.#o.schemas[schema]!.references).flatMap(([field, parent]) => {
      const reference = data[field] as string | { readonly id: string } | null | undefined;
      if (reference == null) return [];
      const externalId = typeof reference === 'object' ? reference.id : reference;
      return this.#stored.has(storedKey(tenant, parent, externalId)) ? [] : [{ schemaName: parent, externalId }];
    });
  }

  /** Merges: fields that are not sent stay, null deletes one. */
  #apply({ tenant, schema, id }: Batch, { externalId, data }: BatchRecord): void {
    const key = storedKey(tenant, schema, externalId);
    const before = this.#stored.get(key);
    this.#o.applied(tenant, schema, externalId, data, before);
    const merged = Object.fromEntries(
      Object.entries({ ...before?.data, ...data }).filter(([, value]) => value !== null),
    );
    this.#stored.set(key, { data: merged, writes: (before?.writes ?? 0) + 1 });
    this.#o.note(`platform: ${id} stores ${key} ${JSON.stringify(data)}`);
  }

  #status(tenant: string, id: string): PlatformResponse {
    const batch = this.#batches.get(id);
    if (batch === undefined || batch.tenant !== tenant || this.#o.kernel.now < batch.visibleAt)
      return refusal(404, 'no such batch');
    const of = (outcome: BatchRecord['outcome']): BatchRecord[] => batch.records.filter((r) => r.outcome === outcome);
    const [open, failed, pending] = [of('open'), of('failed'), of('pending')];
    const isComplete = open.length === 0 && pending.length === 0;
    return success(200, {
      batchId: id,
      progress: {
        totalRecords: batch.records.length,
        processedRecords: batch.records.length - open.length - pending.length,
        successfulRecords: of('accepted').length,
        pendingRecords: pending.length,
        failedRecords: failed.length,
      },
      ...(isComplete ? { completedAt: new Date(this.#o.kernel.now).toISOString() } : {}),
      ...(batch.silent
        ? {}
        : {
            errors: { recordErrors: failed.map((r) => `Resource ${r.externalId} was rejected`) },
            pendingResources: pending.map((r) => ({
              resourceExternalId: r.externalId,
              missingDependencies: this.#missing(batch, r),
              expiresAt: new Date(r.expiresAt).toISOString(),
            })),
          }),
    });
  }

  #resource(tenant: string, schema: string, externalId: string): PlatformResponse {
    const found = this.#stored.get(storedKey(tenant, schema, externalId));
    if (found === undefined) return refusal(404, 'no such resource');
    return success(200, { result: { resourceExternalId: externalId, data: found.data } });
  }
}

export const storedKey = (tenant: string, schema: string, externalId: string): string =>
  `${tenant}/${schema}/${externalId}`;

const json = { 'content-type': 'application/json' };
const success = (status: number, data: object): PlatformResponse => ({
  status,
  headers: json,
  body: JSON.stringify({ success: true, message: 'ok', data }),
});
const refusal = (
  status: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): PlatformResponse => ({
  status,
  headers: { ...json, ...headers },
  body: JSON.stringify({ success: false, message }),
});
