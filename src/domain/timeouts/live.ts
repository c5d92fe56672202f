/** How a run in mode `live` follows its change feeds. */
import type { TimeoutEntry } from './entry.js';

export const LIVE = {
  followSlice: {
    value: 5,
    unit: 'min',
    bounds: 'the time for which one activity follows the feeds before it returns',
    why: "Temporal's history of the run stays short; a worker that is asked to stop returns at once",
  },
  feedPause: {
    value: 1,
    unit: 's',
    bounds: 'the shortest pause between two readings of a feed while nothing changes',
    why: 'a lone change is read within a second; a look at whether anything was written is cheap, and a reading costs the source some milliseconds',
  },
  feedPauseAfterChanges: {
    value: 200,
    unit: 'ms',
    bounds: 'the same after a reading that has found changes',
    why: 'changes mostly come in a row; what comes together is delivered together',
  },
  feedPauseShare: {
    value: 10,
    unit: 'times',
    bounds: 'how much longer such a pause is at least than the last reading, without what its changes have taken',
    why: 'the source spends no more than a tenth of a processor on decoding its log in vain',
  },
  feedLongestPause: {
    value: 30,
    unit: 's',
    bounds: 'the longest pause that follows from that',
    why: 'a transaction that stays open makes readings slow, and people wait for what others change meanwhile',
  },
  feedPositionEvery: {
    value: 5,
    unit: 's',
    bounds:
      'how often a feed is read though nothing was written, and its position recorded and confirmed while little changes',
    why: 'a feed that is lost is noticed soon, and the server can remove its log; no reading writes to the ledger for nothing',
  },
  feedStateEvery: {
    value: 10,
    unit: 's',
    bounds: 'how often a run that reads a feed asks the source what it keeps for it',
    why: 'it is one query of the catalogue; alerts are evaluated each minute',
  },
  liveTick: {
    value: 2,
    unit: 's',
    bounds: 'how often a run records up to when its mappings are delivered, and sees which of them have been loaded',
    why: 'it is some statements; people look at the lag, and alerts are evaluated each minute',
  },
  livePollWhenIdle: {
    value: 5,
    unit: 's',
    bounds: 'the time between two polls for waiting records while there are none',
    why: 'each costs two small queries a mapping',
  },
  leftRowsAgain: {
    value: 30,
    unit: 's',
    bounds: 'the time after which changed rows are read again that could not be decided on',
    why: 'they wait for another run, or for a record that is in flight',
  },
  newBeginning: {
    value: 30,
    unit: 's',
    bounds: 'how often such a run looks for changed files and columns, for which the next run has to begin',
    why: 'who saves a mapping waits for it; a look reads some files, and asks the catalogue once a mapping',
  },
  followRetryLongest: {
    value: 5,
    unit: 's',
    bounds: 'the pause between two attempts of `followChanges`, if it fails again and again',
    why: 'the feeds are not read meanwhile, and people wait for changes as soon as an outage ends; an attempt lasts as long as requests are tried again in place, so there are few',
  },
  liveRestart: {
    value: 1,
    unit: 'min',
    bounds: 'how often a schedule in mode live starts a run, unless one is active',
    why: 'so soon it goes on after a run has failed',
  },
  liveEnd: {
    value: 1,
    unit: 'min',
    bounds:
      'delivering what is left when such a run ends (schedule-to-close timeout); what remains is left to the next run',
    why: 'longer than a time slice; a person may be waiting for its end',
  },
  liveReport: {
    value: 1,
    unit: 'd',
    bounds: 'how long a run lasts before its workflow closes it with a report and begins the next one',
    why: 'its counts and limits are those of a day',
  },
} as const satisfies Readonly<Record<string, TimeoutEntry>>;
