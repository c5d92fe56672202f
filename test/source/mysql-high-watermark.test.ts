/** The high watermark of MySQL and MariaDB. */
import { expect, it } from 'vitest';
import type { Session } from '../../src/source/dialect.js';
import { isReplica } from '../../src/source/mysql/high-watermark.js';

it('takes a server for a replica by what its version answers for read_only', async () => {
  const answering = (value: string) =>
    ({ run: () => Promise.resolve({ rows: [[value]], fields: [] }) }) as unknown as Session;
  // MySQL, and MariaDB before version 12.
  expect(await isReplica(answering('0'))).toBe(false);
  expect(await isReplica(answering('1'))).toBe(true);
  // MariaDB 12.
  expect(await isReplica(answering('OFF'))).toBe(false);
  for (const value of ['ON', 'NO_LOCK', 'NO_LOCK_NO_ADMIN']) expect(await isReplica(answering(value))).toBe(true);
});
