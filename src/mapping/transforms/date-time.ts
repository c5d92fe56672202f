/**
 * The transform `dateTime`: local dates and times to points in time. The source stored no zone, so the mapping must
 * name it.
 */
import { localTimeReader } from './local-time-reader.js';
import { rejected, textOption, type Transform } from './transform.js';

/**
 * Takes timestamps without a zone, dates (their midnight) and such texts; gives RFC 3339 in UTC with up to nine
 * decimals. Rejects what is not a time, the empty text included, and by default a local time that a clock change skips
 * or repeats: which of two instants is meant, nobody can know. SQL NULL stays null.
 */
export const dateTime: Transform = {
  name: 'dateTime',
  description: 'Reads a timestamp or date without a zone as local time of the given zone; gives RFC 3339 in UTC.',
  options: {
    properties: {
      zone: {
        type: 'string',
        format: 'time-zone',
        description: 'Time zone of the column (IANA name).',
        examples: ['Europe/London'],
      },
      onGap: {
        enum: ['reject', 'compatible'],
        default: 'reject',
        description:
          'A local time that clock changes skip or repeat: reject the row (default), or take what most software ' +
          'takes (the first of two, and the time shifted forward over a gap).',
      },
    },
    required: ['zone'],
  },
  takes: ['timestamp', 'date', 'text'],
  gives: 'dateTime',
  make: (options) => {
    const read = localTimeReader(textOption(options, 'zone', 'UTC'), options['onGap'] === 'compatible');
    return (value) => {
      const result = read(value);
      return typeof result === 'string' ? result : rejected('dateTime', result.problem, value);
    };
  },
  examples: [
    { options: { zone: 'Europe/London' }, in: '2010-12-01 08:26:00', out: '2010-12-01T08:26:00Z' },
    { options: { zone: 'Europe/London' }, in: '2010-07-01 08:26:00.123456', out: '2010-07-01T07:26:00.123456Z' },
    { options: { zone: 'Europe/Berlin' }, in: '2010-12-01', out: '2010-11-30T23:00:00Z' },
    { options: { zone: 'Europe/London' }, in: '2011-03-27 01:30:00', rejected: 'skipped by a clock change' },
    { options: { zone: 'Europe/London' }, in: '2010-10-31 01:30:00', rejected: 'repeated by a clock change' },
    { options: { zone: 'Europe/London', onGap: 'compatible' }, in: '2011-03-27 01:30:00', out: '2011-03-27T01:30:00Z' },
    { options: { zone: 'Europe/London', onGap: 'compatible' }, in: '2010-10-31 01:30:00', out: '2010-10-31T00:30:00Z' },
    { options: { zone: 'Europe/London' }, in: '2010-02-30 08:00:00', rejected: 'no such day or time' },
    { options: { zone: 'Europe/London' }, in: 'infinity', rejected: 'not a point in time' },
    { options: { zone: 'Europe/London' }, in: '0044-03-15 12:00:00 BC', rejected: 'no dates BC' },
  ],
};
