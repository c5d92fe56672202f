/** How long the source and the ledger are waited for. */
import type { TimeoutEntry } from './entry.js';

export const DATABASES = {
  sourceStatement: {
    value: 30,
    unit: 's',
    bounds: 'a statement on the source, a lock that it waits for, and an idle transaction',
    why: "a page that takes longer lacks an index; nothing in the partner's database waits for long",
    setting: '`source.statementTimeout`',
  },
  sourceSlowPage: {
    value: 0.25,
    unit: 'times',
    bounds: 'the share of that time after which the next page is made smaller',
    why: 'pages shrink long before one of them fails',
  },
  sourceResponseGrace: {
    value: 10,
    unit: 's',
    bounds: 'the time added to it before a server counts as gone',
    why: 'a running server ends the statement itself; one that has vanished sends nothing',
  },
  sourceConnect: {
    value: 15,
    unit: 's',
    bounds: 'connecting to the source',
    why: 'covers a failover behind a proxy, and is shorter than the wait for a connection',
  },
  sourcePool: {
    value: 20,
    unit: 's',
    bounds: 'the wait for a connection of the pool',
    why: 'longer than connecting, so that the reported error gives the reason',
  },
  sourceSecondAttempt: {
    value: 200,
    unit: 'ms',
    bounds: 'the pause before a page is read a second time, after a lost session or a deadlock',
    why: 'a killed session is replaced at once',
  },
  sourceThirdAttempt: {
    value: 1,
    unit: 's',
    bounds: 'the pause before the third and last attempt in place',
    why: 'a failover behind a proxy may take that long; longer faults are left to the retries of the activity',
  },
  unseenTransactions: {
    value: 30,
    unit: 's',
    bounds: 'how far the high watermark is behind the clock if open transactions cannot be seen',
    why: 'few transactions are open for longer; a `full` run finds the rows of those',
  },
  preparedTransactions: {
    value: 2,
    unit: 's',
    bounds: 'the wait for prepared transactions of PostgreSQL to end, before the high watermark is taken',
    why: 'they are committed within milliseconds; one that is not was left behind, and the attempt is retried',
  },
  preparedTransactionsPoll: {
    value: 50,
    unit: 'ms',
    bounds: 'the pause between two looks at them',
    why: 'costs little, and a run waits only as long as they take',
  },
  slotReading: {
    value: 15,
    unit: 'min',
    bounds: 'one reading of a slot, one confirmation of changes, and a pause while its groups are taken',
    why: 'the server decodes its log from the beginning of the oldest open transaction on, some gigabytes in minutes',
  },
  slotInUse: {
    value: 10,
    unit: 's',
    bounds: 'the wait for another session that uses the slot',
    why: 'a session that was lost gives the slot back when the server notices; only one may use it',
  },
  slotInUsePoll: {
    value: 200,
    unit: 'ms',
    bounds: 'the pause between two attempts to use it',
    why: 'each costs the server hardly anything',
  },
  slotCancellation: {
    value: 1,
    unit: 's',
    bounds: 'the wait until the server has cancelled a reading, before its connection is ended',
    why: 'the server would go on reading for a connection that is gone; whoever gave up does not wait for long',
  },
  openTransactions: {
    value: 2,
    unit: 'min',
    bounds: 'the wait for transactions that are open when a feed begins',
    why: 'most take seconds; one that takes longer is named in the error, and the attempt is retried',
  },
  openTransactionsPoll: {
    value: 100,
    unit: 'ms',
    bounds: 'the pause between two looks at them',
    why: 'a look takes a millisecond',
  },
  ledgerStatement: {
    value: 60,
    unit: 's',
    bounds: 'a statement on the ledger',
    why: 'the largest checkpoint takes a few seconds',
  },
  ledgerLock: {
    value: 30,
    unit: 's',
    bounds: 'a lock that a statement on the ledger waits for',
    why: 'locks are held for milliseconds, unless their holder is frozen',
  },
  ledgerIdleTransaction: {
    value: 15,
    unit: 's',
    bounds: 'a transaction on the ledger in which nothing happens',
    why: 'shorter than the wait for a lock, so that a frozen process does not block its successor',
  },
  ledgerResponse: {
    value: 75,
    unit: 's',
    bounds: 'a response of the ledger, before its server counts as gone',
    why: 'the server ends the statement itself before that, if it is running',
  },
  ledgerPool: {
    value: 15,
    unit: 's',
    bounds: 'the wait for a connection to the ledger',
    why: 'an attempt of an activity ends with a clear error well within its time',
  },
  filesKept: {
    value: 1,
    unit: 'h',
    bounds: "the shortest time for which the ledger keeps a sync's mapping files once a run has begun with them",
    why: 'longer than a transaction that begins a run; consecutive runs do not write them again',
  },
  ledgerTransaction: {
    value: 2,
    unit: 'attempts',
    bounds: 'attempts of a transaction that the ledger aborts because of a deadlock or a conflict',
    why: 'the second attempt seldom meets the same other transaction; longer faults are left to the retries of the activity',
  },
} as const satisfies Readonly<Record<string, TimeoutEntry>>;
