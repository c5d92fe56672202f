/**
 * Compares the variables of processes without showing a value: each process hashes its own, and the hashes are compared. They
 * are stored in Temporal's history, so they are made by scrypt, by which guesses at a password cannot be tried quickly.
 */
import { scrypt } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { sqliteFileOf } from '../domain/source/source-address.js';
import { VARIABLES, valueOf, type Env } from './environment.js';

const hashed = promisify<string, string, number, Buffer>(scrypt);
const BYTES = 16;

/** Those that decide what a process reads and sends. The others may differ, such as ports. */
const COMPARED = [
  'PARTNER_SYNC_STATE_URL',
  'PARTNER_SYNC_DATA_CONVERTER',
  'PARTNER_SYNC_SMTP_URL',
  'PARTNER_SYNC_SMTP_FROM',
  ...Object.keys(VARIABLES).filter((name) => name.startsWith('PLATFORM_') && name !== 'PLATFORM_TENANT'),
];

/**
 * A hash of the value of each variable that decides what is read and sent, and of those in `named`; null for one that
 * has no value. Hashes with the same salt are equal if the values mean the same.
 */
export async function hashedVariables(
  env: Env,
  named: readonly string[],
  salt: string,
): Promise<Record<string, string | null>> {
  const hashes = [...new Set([...COMPARED, ...named])].map(async (name) => {
    // A file that cannot be read has no value to compare.
    const value = (await valueOf(env, name).catch(() => undefined)) ?? '';
    return [
      name,
      value === '' ? null : (await hashed(await meaningOf(value), `${salt} ${name}`, BYTES)).toString('hex'),
    ] as const;
  });
  return Object.fromEntries(await Promise.all(hashes));
}

/**
 * The value, or the file that it means if it is the address of an SQLite database. Processes run in different folders: for
 * the worker of a dev stack, a relative path was made absolute.
 */
async function meaningOf(value: string): Promise<string> {
  const file = sqliteFileOf(value);
  return file === undefined ? value : realpath(file).catch(() => resolve(file));
}
