/** The search for the Temporal CLI: its order, and that two searches do not build it twice. */
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findTemporal } from '../../src/embedded/temporal-cli.js';

describe('the search for the Temporal CLI', () => {
  let folder: string;
  let bin: string;
  let cached: string;
  let said: string[];

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'partner-sync-cli-test-'));
    bin = join(folder, 'bin');
    cached = join(folder, 'cache', 'partner-sync', 'temporal-cli-1.5.1');
    mkdirSync(bin);
    mkdirSync(cached, { recursive: true });
    said = [];
    // What a script needs to run at all; no folder of the system's is on the PATH.
    for (const tool of ['sh', 'sleep', 'cp', 'chmod']) symlinkSync(`/bin/${tool}`, join(bin, tool));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const find = (): Promise<{ path: string; how: string }> =>
    findTemporal({
      log: (line) => said.push(line),
      // Proxies that lead nowhere: no test downloads anything, on a machine with a network either.
      env: { PATH: bin, XDG_CACHE_HOME: join(folder, 'cache'), HOME: folder, HTTPS_PROXY: 'http://127.0.0.1:9' },
    });
  const program = (path: string, text = 'exit 0'): void => {
    writeFileSync(path, `#!/bin/sh\n${text}\n`);
    chmodSync(path, 0o755);
  };
  /** A "go" that takes half a second to build a program, and counts how often it is asked to. */
  const fakeGo = (): void =>
    program(
      join(bin, 'go'),
      `echo "$@" >> ${folder}/builds; sleep 0.5; cp ${bin}/go "$GOBIN/temporal"; chmod 755 "$GOBIN/temporal"`,
    );

  it('prefers the one on PATH to the one in the cache', async () => {
    program(join(cached, 'temporal'));
    expect(await find()).toEqual({ path: join(cached, 'temporal'), how: 'cache' });
    program(join(bin, 'temporal'));
    expect(await find()).toEqual({ path: join(bin, 'temporal'), how: 'PATH' });
    expect(said).toEqual([]);
  });

  it('ignores a folder or a file that cannot be executed', async () => {
    mkdirSync(join(bin, 'temporal'));
    writeFileSync(join(cached, 'temporal'), 'half a download', { mode: 0o644 });
    await expect(find()).rejects.toMatchObject({ code: 'config_invalid' });
  });

  it('builds it with Go if there is no other way, once for two simultaneous searches', async () => {
    fakeGo();
    const found = await Promise.all([find(), find()]);
    expect(found.map(({ path }) => path)).toEqual([join(cached, 'temporal'), join(cached, 'temporal')]);
    expect(readFileSync(join(folder, 'builds'), 'utf8').trim().split('\n')).toEqual([
      'install github.com/temporalio/cli/cmd/temporal@v1.5.1',
    ]);
    expect(said).toContain('Building the Temporal CLI 1.5.1 with Go: this takes two to three minutes, once.');
  });

  it('does not wait for a search that died during a build', async () => {
    fakeGo();
    writeFileSync(join(cached, 'lock'), '2147483646\n');
    expect(await find()).toMatchObject({ how: 'go' });
    rmSync(join(cached, 'temporal'));
    // A living process that has had nothing to do with it since the machine was restarted.
    writeFileSync(join(cached, 'lock'), `${process.pid}\n`);
    utimesSync(join(cached, 'lock'), new Date(0), new Date(0));
    expect(await find()).toMatchObject({ how: 'go' });
  });

  it('names every place it searched, and what to install, if all fail', async () => {
    program(join(bin, 'go'), 'echo "no network" >&2; exit 1');
    const failure = await find().then(
      () => '',
      (error: Error) => error.message,
    );
    for (const words of [
      'PATH: no "temporal"',
      `cache: no ${cached}`,
      'download: ',
      'go: no network',
      'TEMPORAL_ADDRESS',
    ]) {
      expect(failure).toContain(words);
    }
  });
});
