/** How long requests to the platform may take, and when they are sent again. */
import type { TimeoutEntry } from './entry.js';

export const PLATFORM = {
  platformRequest: {
    value: 30,
    unit: 's',
    bounds: 'one request, from its first to its last byte',
    why: 'the longest that the platform is assumed to need; also ends responses that trickle',
  },
  platformCall: {
    value: 1,
    unit: 'min',
    bounds: 'a call with its retries and with the `Retry-After` for which it waits in place',
    why: 'a call that takes longer is retried by Temporal, which keeps no connection open meanwhile',
  },
  platformReadBack: {
    value: 15,
    unit: 'min',
    bounds: 'the same while `reconcile` reads back',
    why: 'a proof that takes an hour must not fail because the platform is busy for some minutes',
  },
  platformFirstBackoff: {
    value: 250,
    unit: 'ms',
    bounds: 'the pause before a first retry; it doubles, and the actual pause is random between zero and this',
    why: 'a restart behind a proxy is often over by then; full jitter keeps clients from retrying at the same moment',
  },
  platformLongestBackoff: {
    value: 15,
    unit: 's',
    bounds: 'the same pause, before any retry',
    why: 'a call still gets several attempts within its minute',
  },
  platformKeepAlive: {
    value: 10,
    unit: 's',
    bounds: 'how long an idle connection is kept',
    why: 'longer than the pauses between two polls of a batch, shorter than what proxies grant',
  },
  retryAfterLongest: {
    value: 1,
    unit: 'd',
    bounds: 'a `Retry-After`; longer ones count as this',
    why: 'longer values are assumed to be mistakes; an activity may take a day',
  },
  retryAfterSpread: {
    value: 250,
    unit: 'ms',
    bounds: 'the time over which requests that waited for a `Retry-After` are spread',
    why: 'they are not all sent at the same moment',
  },
  retryAfterLogged: {
    value: 10,
    unit: 's',
    bounds: 'the shortest `Retry-After` that is logged',
    why: 'nobody could act on shorter ones',
  },
  fleetHeartbeat: {
    value: 1,
    unit: 's',
    bounds: 'how often a sender records in the ledger that it is active, and reads its share and any `Retry-After`',
    why: 'shares are right within seconds, for one statement a second',
  },
  fleetFresh: {
    value: 3,
    unit: 's',
    bounds: 'the age of what it has read, beyond which it reads again before a request',
    why: 'a process that the ledger does not answer must stop before its share is redistributed',
  },
  fleetJoin: {
    value: 3,
    unit: 's',
    bounds: 'the wait of a process that joins others, before its first request',
    why: 'the others know of it by then, and have reduced their shares',
  },
  fleetGone: {
    value: 10,
    unit: 's',
    bounds: 'the silence after which the share of a process is redistributed',
    why: 'no process works longer with what it last read, and no share is unused for long',
  },
  fleetTurn: {
    value: 5,
    unit: 's',
    bounds: 'the turn of a process while others wait for one, of a limit below the number of senders',
    why: 'passing a turn on takes about a second or two',
  },
  fleetIdle: {
    value: 20,
    unit: 's',
    bounds: 'the time without requests for a sync after which a process gives its share back',
    why: 'longer than most pauses between two polls of a batch',
  },
  retryAfterFresh: {
    value: 1,
    unit: 's',
    bounds: 'the age of the last known `Retry-After` of others, beyond which it is read again before a request',
    why: 'a second late costs a few requests; reading it before every request would slow all of them down',
  },
  retryAfterResponse: {
    value: 2,
    unit: 's',
    bounds: 'the wait for the response',
    why: 'commands that need no ledger, such as `doctor`, must work without it',
  },
  tokenWait: {
    value: 5,
    unit: 'min',
    bounds: 'the wait for a renewed token in the file, after a 401',
    why: 'whatever renews tokens does so every few minutes',
    setting: '`PLATFORM_TOKEN_WAIT`',
  },
  tokenLook: {
    value: 500,
    unit: 'ms',
    bounds: "the time between two reads of the token's file",
    why: 'a file is cheap to read',
  },
  tokenFirstTry: {
    value: 1,
    unit: 's',
    bounds: 'the wait before one request tries a rejected token again; it doubles',
    why: 'the platform may have been wrong, or its clock slow',
  },
  tokenLongestTry: {
    value: 15,
    unit: 's',
    bounds: 'the same wait, before any further attempt',
    why: 'a platform that accepts it again is noticed soon, and gets few requests until then',
  },
  redirectWait: {
    value: 5,
    unit: 'min',
    bounds: 'the time for which an operation may return nothing but redirects before its call fails',
    why: 'a gateway that restarts redirects for a while; one that was moved does so permanently',
  },
  pushDefinition: {
    value: 1,
    unit: 'min',
    bounds: 'the creation of one schema definition by `schema push`, with its retries',
    why: 'the command can be run again',
  },
} as const satisfies Readonly<Record<string, TimeoutEntry>>;
