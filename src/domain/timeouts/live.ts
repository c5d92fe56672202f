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
    why: 'an idle reading costs the source some milliseconds',
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
    bounds: 'how much longer than the last reading such a pause is at least',
    why: 'the source spends no more than a tenth of a processor on a feed',
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
    bounds: 'how often the position of a feed is recorded and confirmed while nothing changes',
    why: 'the server can remove its log soon; no reading writes to the ledger for nothing',
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
