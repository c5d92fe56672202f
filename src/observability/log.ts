/** One logger a process: JSON lines on stderr, objects first, secrets and personal data redacted by path. */
import { pino, type Logger } from 'pino';

export type { Logger };

/** Paths that must never be printed, wherever they come from. */
const REDACTED = [
  'token',
  'password',
  'connection',
  'authorization',
  'headers.authorization',
  'record',
  'row',
  'data',
  'json',
  'body',
  '*.token',
  '*.password',
  '*.connection',
  '*.authorization',
  '*.data',
  '*.body',
];

/** stdout belongs to the command's result, so that `--json` prints one document and nothing else there. */
export function createLogger(level: string): Logger {
  return pino({ level, base: undefined, redact: { paths: REDACTED, censor: '[redacted]' } }, pino.destination(2));
}
