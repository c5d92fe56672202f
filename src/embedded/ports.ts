/** Free ports on 127.0.0.1, remembered in a file so that addresses stay the same from one run to the next. */
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';

/**
 * A port for each name: the remembered one where it is still free, else a new one, which is remembered.
 *
 * @example
 * const { frontend, ui } = await rememberedPorts(join(folder, 'ports.json'), ['frontend', 'ui']);
 */
export async function rememberedPorts<Name extends string>(
  file: string,
  names: readonly Name[],
): Promise<Record<Name, number>> {
  const remembered = readPorts(file);
  const chosen = {} as Record<Name, number>;
  for (const name of names) {
    const taken: readonly number[] = Object.values<number>(chosen);
    chosen[name] = await freePort(remembered[name], taken);
  }
  writeFileSync(file, `${JSON.stringify({ ...remembered, ...chosen }, null, 2)}\n`, { mode: 0o600 });
  return chosen;
}

/** The preferred port where it is free, else one that the operating system picks. */
export async function freePort(preferred?: number, taken: readonly number[] = []): Promise<number> {
  if (preferred !== undefined && !taken.includes(preferred) && (await listenOnce(preferred)) !== undefined) {
    return preferred;
  }
  for (;;) {
    const port = await listenOnce(0);
    if (port !== undefined && !taken.includes(port)) return port;
  }
}

function listenOnce(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(undefined));
    server.listen({ host: '127.0.0.1', port, exclusive: true }, () => {
      const address = server.address();
      server.close(() => resolve(address !== null && typeof address === 'object' ? address.port : undefined));
    });
  });
}

function readPorts(file: string): Record<string, number> {
  try {
    const parsed: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (parsed === null || typeof parsed !== 'object') return {};
    return Object.fromEntries(
      Object.entries(parsed).filter((entry): entry is [string, number] => Number.isInteger(entry[1])),
    );
  } catch {
    // No file yet, or a damaged one: new ports are no loss.
    return {};
  }
}
