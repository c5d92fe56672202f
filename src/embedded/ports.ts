/** Chooses free ports on 127.0.0.1 and remembers them in a file, so that addresses stay the same between runs. */
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';

/**
 * A port for each name: the remembered one if it is still free, otherwise a new one, which is remembered.
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

/**
 * The preferred port if it is free and not in `taken`, otherwise one chosen by the operating system. Another process
 * may take it before it is used.
 */
export async function freePort(preferred?: number, taken: readonly number[] = []): Promise<number> {
  if (preferred !== undefined && !taken.includes(preferred) && (await listenOnce(preferred)) !== undefined) {
    return preferred;
  }
  while (true) {
    const port = await listenOnce(0);
    if (port !== undefined && !taken.includes(port)) return port;
  }
}

/** Listens on the port briefly and resolves to its number, or undefined if it is in use; 0 means any port. */
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

/** The remembered ports by name; empty if there is no file. */
function readPorts(file: string): Record<string, number> {
  try {
    const parsed: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (parsed === null || typeof parsed !== 'object') return {};
    return Object.fromEntries(
      Object.entries(parsed).filter((entry): entry is [string, number] => Number.isInteger(entry[1])),
    );
  } catch {
    // A missing or damaged file only means that new ports are chosen.
    return {};
  }
}
