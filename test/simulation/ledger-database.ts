/**
 * The ledger's database in this process: PostgreSQL compiled to WebAssembly (PGlite), behind sockets that the driver `pg`
 * takes for real ones. There is one backend, so one session at a time has its turn: it keeps it while it is in a transaction.
 */
import { Duplex } from 'node:stream';
import { PGlite } from '@electric-sql/pglite';
import type { Kernel, SimulatedProcess } from './kernel.js';
import type { Random } from './random.js';

/** What happens to the statements of one simulation. */
export interface LedgerFaults {
  /** How likely the answer to a statement outside a transaction, or to a COMMIT, is lost with its connection. */
  readonly lostAnswer: number;
  /** How likely a statement is lost before it reaches the server. */
  readonly lostStatement: number;
}

/** One simulation's use of the database. */
export interface LedgerTurns {
  readonly kernel: Kernel;
  readonly random: Random;
  faults: LedgerFaults;
  /** After how many milliseconds in a transaction without a statement the server ends a session. */
  readonly idleLimit: number;
  /** Called when a statement of a process was executed. */
  readonly executed: (sql: string, process: SimulatedProcess | null) => void;
}

/** As the driver sends it: one or more messages that end with a Sync or are a simple query. */
interface Unit {
  readonly messages: readonly Buffer[];
  readonly sql: string;
}

const READY = 'Z'.charCodeAt(0);
const PARSE_COMPLETE = '1'.charCodeAt(0);
/** What a message to describe or close is about: a statement, not a portal. */
const STATEMENT = 'S'.charCodeAt(0);

export class LedgerDatabase {
  readonly #backend: PGlite;
  #turns: LedgerTurns | null = null;
  /** The session that is in a transaction. */
  #holder: LedgerSocket | null = null;
  #waiting: { readonly socket: LedgerSocket; readonly unit: Unit }[] = [];
  /** What the backend has prepared: it parses and plans a text once, whichever session sends it, and under whatever name. */
  readonly #prepared = new Map<string, string>();
  readonly #asked = new Map<string, string>();

  private constructor(backend: PGlite) {
    this.#backend = backend;
  }

  static async open(): Promise<LedgerDatabase> {
    const backend = new PGlite();
    await backend.waitReady;
    // Nothing has to survive this process.
    await backend.exec('SET synchronous_commit = off; SET jit = off; SET plan_cache_mode = force_generic_plan');
    return new LedgerDatabase(backend);
  }

  /** Begins another simulation. Sockets of the one before are of no use any more. */
  begin(turns: LedgerTurns): void {
    this.#turns = turns;
    this.#holder = null;
    this.#waiting = [];
  }

  /** Executes statements beside the simulation. */
  async sql(text: string): Promise<void> {
    await this.#backend.exec(text);
  }

  /** The rows of a query beside the simulation; one that is asked again is planned once for each seed. */
  async rows<T>(text: string): Promise<T[]> {
    let name = this.#asked.get(text);
    if (name === undefined) {
      name = `asked_${this.#asked.size + 1}`;
      await this.#backend.exec(`PREPARE ${name} AS ${text}`);
      this.#asked.set(text, name);
    }
    return (await this.#backend.query<T>(`EXECUTE ${name}`)).rows;
  }

  /** Ends an open transaction that the simulation before has left. */
  async reset(tables: string): Promise<void> {
    this.#turns = null;
    await this.#backend.exec('ROLLBACK');
    await this.#backend.exec(tables);
  }

  socket(): LedgerSocket {
    return new LedgerSocket(this, this.#turns!.kernel.process);
  }

  /** Whether no session is in a transaction. */
  get isFree(): boolean {
    return this.#holder === null;
  }

  get turns(): LedgerTurns {
    return this.#turns!;
  }

  /** The statement has been sent. It is executed when it is the session's turn. */
  submit(socket: LedgerSocket, unit: Unit): void {
    const { kernel, random, faults } = this.turns;
    kernel.after(
      random.next() * 2,
      () => {
        // It has died with its transaction: the statement would be one of its own.
        if (socket.isOver) return;
        if (random.chance(faults.lostStatement)) {
          socket.cut();
          return;
        }
        this.#waiting.push({ socket, unit });
        this.#next();
      },
      null,
    );
  }

  /** The session has ended: its transaction is rolled back. */
  ended(socket: LedgerSocket): void {
    this.#waiting = this.#waiting.filter((each) => each.socket !== socket);
    if (this.#holder !== socket) return;
    this.#send(ROLLBACK);
    this.#holder = null;
    this.#next();
  }

  #next(): void {
    const index = this.#holder === null ? 0 : this.#waiting.findIndex(({ socket }) => socket === this.#holder);
    const [next] = index < 0 ? [] : this.#waiting.splice(index, 1);
    if (next !== undefined) this.#execute(next.socket, next.unit);
  }

  /**
   * Executes a unit. Its statement is known to the backend by a name of its own, under which it was parsed when it came first;
   * each seed plans it anew, for emptying a table makes its plans invalid.
   */
  #answerTo({ messages, sql }: Unit): Buffer {
    if (typeOf(messages[0]!) === 'Q') return this.#send(messages[0]!);
    const known = this.#prepared.get(sql);
    const name = known ?? `statement_${this.#prepared.size + 1}`;
    const own = messages.flatMap((message) => {
      const type = typeOf(message);
      if (type === 'P') return known === undefined ? [withName(message, 5, name)] : [];
      if (type === 'B') return [withName(message, message.indexOf(0, 5) + 1, name)];
      if (message[5] !== STATEMENT) return [message];
      if (type === 'D') return [withName(message, 6, name)];
      return type === 'C' ? [] : [message];
    });
    const answer = this.#send(Buffer.concat(own));
    if (answer[0] === PARSE_COMPLETE) this.#prepared.set(sql, name);
    return answer;
  }

  /** Has the answer before it returns. Unlike `execProtocolRawSync`, this does not parse it, which the driver does anyway. */
  #send(messages: Buffer): Buffer {
    const answer: Buffer[] = [];
    const options = { syncToFs: false, onRawData: (bytes: Uint8Array) => void answer.push(Buffer.from(bytes)) };
    void this.#backend.execProtocolRawStream(messages, options);
    return Buffer.concat(answer);
  }

  #execute(socket: LedgerSocket, unit: Unit): void {
    const turns = this.turns;
    const { random, faults } = turns;
    this.#holder = socket;
    const answer = this.#answerTo(unit);
    turns.executed(unit.sql, socket.process);
    const inTransaction = statusIn(answer) !== 'I';
    if (socket.isOver) {
      this.ended(socket);
      return;
    }
    if (!inTransaction) this.#holder = null;
    else socket.watchIdle();
    if (!inTransaction && random.chance(faults.lostAnswer)) socket.cut();
    else socket.answer(answer, random.next() * 2);
    this.#next();
  }
}

/** 'I', 'T' or 'E', from the last message of an answer. */
const statusIn = (answer: Uint8Array): string => {
  if (answer.at(-6) !== READY) throw new Error('the ledger has answered without ReadyForQuery');
  return String.fromCharCode(answer.at(-1)!);
};

/** The driver's end of a session. */
export class LedgerSocket extends Duplex {
  readonly #database: LedgerDatabase;
  readonly process: SimulatedProcess | null;
  readonly #kernel: Kernel;
  #received: Buffer = Buffer.alloc(0);
  #unit: Buffer[] = [];
  #sql = '';
  readonly #prepared = new Map<string, string>();
  #isStarted = false;
  #uses = 0;
  /** Whether the server has no such session any more. */
  isOver = false;

  constructor(database: LedgerDatabase, process: SimulatedProcess | null) {
    super();
    this.#database = database;
    this.process = process;
    this.#kernel = database.turns.kernel;
    process?.whenKilled(() => this.#kernel.after(1, () => this.#end(), null));
  }

  connect(): this {
    this.#kernel.after(1, () => this.emit('connect'));
    return this;
  }
  setNoDelay(): this {
    return this;
  }
  setKeepAlive(): this {
    return this;
  }
  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }

  override _read(): void {}

  override _write(bytes: Buffer, _: string, done: () => void): void {
    this.#received = Buffer.concat([this.#received, bytes]);
    while (this.#take());
    done();
  }

  override _final(done: () => void): void {
    this.#kernel.after(1, () => this.#end(), null);
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#end();
    done(error);
  }

  /** The connection is lost, in both directions. */
  cut(): void {
    this.#end();
    this.#kernel.after(
      1,
      () => this.destroy(Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })),
      this.process,
    );
  }

  /** Sends bytes to the driver, after so many virtual milliseconds. */
  answer(bytes: Uint8Array, milliseconds: number): void {
    this.#kernel.after(
      milliseconds,
      () => {
        if (!this.destroyed) this.push(bytes);
      },
      this.process,
    );
  }

  /** The server ends a session in whose transaction nothing happens. */
  watchIdle(): void {
    const use = ++this.#uses;
    this.#kernel.after(
      this.#database.turns.idleLimit,
      () => {
        if (use !== this.#uses) return;
        this.#end();
        this.answer(FATAL_IDLE, 1);
        this.#kernel.after(2, () => this.push(null), this.process);
      },
      null,
    );
  }

  #end(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.#database.ended(this);
  }

  /** Takes one message from what was received; false if there is no whole one. */
  #take(): boolean {
    const received = this.#received;
    const start = this.#isStarted ? 1 : 0;
    if (received.length < start + 4) return false;
    const length = start + received.readInt32BE(start);
    if (received.length < length) return false;
    this.#received = received.subarray(length);
    if (!this.#isStarted) {
      this.#isStarted = true;
      this.answer(GREETING, 1);
      return true;
    }
    this.#message(String.fromCharCode(received[0]!), Buffer.from(received.subarray(0, length)));
    return true;
  }

  #message(type: string, message: Buffer): void {
    if (type === 'X') return;
    if (type === 'Q') this.#sql = message.toString('utf8', 5, message.length - 1);
    if (type === 'P') this.#parsed(message);
    // A prepared statement is sent by its name once it is known.
    if (type === 'B') this.#sql ||= this.#prepared.get(textAt(message, message.indexOf(0, 5) + 1)) ?? '';
    this.#unit.push(message);
    if (type !== 'S' && type !== 'Q') return;
    const unit = { messages: this.#unit, sql: this.#sql };
    this.#unit = [];
    this.#sql = '';
    this.#uses++;
    if (!this.isOver) this.#database.submit(this, unit);
  }

  #parsed(message: Buffer): void {
    const name = textAt(message, 5);
    this.#sql = textAt(message, 6 + Buffer.byteLength(name));
    if (name !== '') this.#prepared.set(name, this.#sql);
  }
}

const typeOf = (message: Buffer): string => String.fromCharCode(message[0]!);

/** The message with another name in place of the one at `at`. */
function withName(message: Buffer, at: number, name: string): Buffer {
  const named = Buffer.concat([message.subarray(0, at), Buffer.from(name), message.subarray(message.indexOf(0, at))]);
  named.writeInt32BE(named.length - 1, 1);
  return named;
}

/** The text up to the next NUL. */
const textAt = (message: Buffer, at: number): string => message.toString('utf8', at, message.indexOf(0, at));

const messageOf = (type: string, ...parts: (string | Buffer)[]): Buffer => {
  const body = Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(`${part}\0`) : part)));
  const head = Buffer.alloc(5);
  head.write(type, 0);
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
};

/** AuthenticationOk, the parameters that the driver looks at, BackendKeyData, ReadyForQuery. */
const GREETING = Buffer.concat([
  messageOf('R', Buffer.alloc(4)),
  messageOf('S', 'server_version', '18.6'),
  messageOf('S', 'client_encoding', 'UTF8'),
  messageOf('K', Buffer.alloc(8)),
  messageOf('Z', Buffer.from('I')),
]);

const ROLLBACK = messageOf('Q', 'ROLLBACK');

const FATAL_IDLE = messageOf(
  'E',
  Buffer.from('SFATAL\0VFATAL\0C25P03\0Mterminating connection due to idle-in-transaction timeout\0\0'),
);
