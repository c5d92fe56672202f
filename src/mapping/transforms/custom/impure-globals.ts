/**
 * Finds uses of the clock, of random numbers, of the environment and of the network: during a synchronous call, the
 * global names for them are replaced by ones that throw. This finds mistakes; it is no sandbox.
 */

/** Thrown by a global that a pure function must not use. The message contains no data. */
export class ImpureUse extends Error {
  override readonly name = 'ImpureUse';

  constructor(what: string, name: string) {
    super(`uses ${what} (${name})`);
  }
}

const impure = (what: string, name: string) => (): never => {
  throw new ImpureUse(what, name);
};

const CLOCK = 'the clock';
const ZONE = "the machine's time zone";
const RANDOM = 'random numbers';

/** Global names that a pure function has no use for. */
const GLOBALS: Readonly<Record<string, string>> = {
  process: 'the process',
  crypto: RANDOM,
  performance: CLOCK,
  fetch: 'the network',
  WebSocket: 'the network',
  setTimeout: CLOCK,
  setInterval: CLOCK,
  setImmediate: CLOCK,
  queueMicrotask: 'work for later',
};

/** Methods of dates whose results depend on the machine. */
const LOCAL_METHODS = Object.getOwnPropertyNames(Date.prototype).filter((name) =>
  /^(?:get|set)(?!UTC|Time$)|^to(?:Locale|String|DateString|TimeString)/.test(name),
);

/** Texts that mean the same point in time on every machine: with a zone, or a date alone. */
const ZONED = /(?:Z|[+-]\d\d:?\d\d)$|^\d{4}(?:-\d\d){0,2}$/;

const PureDate = new Proxy(Date, {
  apply: impure(CLOCK, 'Date()'),
  construct(target, args: readonly unknown[], newTarget) {
    if (args.length === 0) impure(CLOCK, 'new Date()')();
    if (args.length > 1 || (typeof args[0] === 'string' && !ZONED.test(args[0])))
      impure(ZONE, 'new Date() of a local time')();
    return Reflect.construct(target, args, newTarget) as object;
  },
  get(target, name, receiver) {
    if (name === 'now') return impure(CLOCK, 'Date.now');
    return Reflect.get(target, name, receiver) as unknown;
  },
});

/** What is replaced: owner, name, and the property in its place. */
const REPLACEMENTS: readonly (readonly [object, string, PropertyDescriptor])[] = [
  ...Object.entries(GLOBALS)
    .filter(([name]) => name in globalThis)
    .map(([name, what]) => [globalThis, name, { get: impure(what, name) }] as const),
  [globalThis, 'Date', { value: PureDate }],
  [Math, 'random', { value: impure(RANDOM, 'Math.random') }],
  ...LOCAL_METHODS.map((name) => [Date.prototype, name, { value: impure(ZONE, name) }] as const),
];

/** Replaces them, and returns what puts them back. */
function replaceGlobals(): () => void {
  const before = REPLACEMENTS.map(([owner, name]) => Object.getOwnPropertyDescriptor(owner, name)!);
  for (const [owner, name, property] of REPLACEMENTS)
    Object.defineProperty(owner, name, { ...property, configurable: true });
  return () => {
    for (const [index, [owner, name]] of REPLACEMENTS.entries()) Object.defineProperty(owner, name, before[index]!);
  };
}

let areReplaced = false;

/** Calls `work`, which must be synchronous. Throws {@link ImpureUse} if it uses what a pure function must not. */
export function withoutImpureGlobals<T>(work: () => T): T {
  if (areReplaced) return work();
  const putBack = replaceGlobals();
  areReplaced = true;
  try {
    return work();
  } finally {
    areReplaced = false;
    putBack();
  }
}

/** Taken before it is replaced. */
const later = queueMicrotask;

/** The same until the code that runs now gives way, for code that is not called but evaluated: the body of a module. */
export function withoutImpureGlobalsForNow(): void {
  if (areReplaced) return;
  const putBack = replaceGlobals();
  areReplaced = true;
  later(() => {
    areReplaced = false;
    putBack();
  });
}
