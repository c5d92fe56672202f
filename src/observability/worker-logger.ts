/** The interface of the logger of a worker. */

/** Takes log entries: what they are about, then a sentence. A logger of pino is one. */
export type WorkerLogger = Readonly<
  Record<'trace' | 'debug' | 'info' | 'warn' | 'error', (fields: object, message: string) => void>
>;
