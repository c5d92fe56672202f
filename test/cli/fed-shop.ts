/** A shop whose source has a slot to be installed: an account that may only read it, and an administrator. */
import { expect, onTestFinished } from 'vitest';
import { openShop, SYNC, type Shop } from '../pipeline/shop.js';
import { filesOf } from '../pipeline/shop-files.js';
import { dropSlot, type SlotServer } from '../source/slot-server.js';
import type { CommandEnd } from './command-line.js';
import { runInProcess } from './in-process.js';

/** Of the two accounts: no output may have one. */
export const PASSWORDS = { reader: 'hunter2', admin: 'hunter3' };

export interface FedShop extends Shop {
  readonly slot: string;
  /** The account that may only read. */
  readonly reader: string;
  changes(args: string, env?: Record<string, string>): Promise<CommandEnd>;
}

/** A shop that an account reads which may do nothing else, and an administrator with a password. */
export async function openFedShop(server: SlotServer, files: Record<string, string> = {}): Promise<FedShop> {
  const shop = await openShop({ sourceServer: server.url('postgres') });
  const slot = new URL(shop.source.url).pathname.slice(1);
  const [reader, admin] = [`${slot}_reader`, `${slot}_admin`];
  await shop.source.query(`
    CREATE ROLE ${reader} LOGIN PASSWORD '${PASSWORDS.reader}'; GRANT USAGE ON SCHEMA shop TO ${reader};
    GRANT SELECT ON ALL TABLES IN SCHEMA shop TO ${reader};
    CREATE ROLE ${admin} LOGIN SUPERUSER PASSWORD '${PASSWORDS.admin}'`);
  const urlOf = (username: string, password: string): string =>
    Object.assign(new URL(shop.source.url), { username, password }).href;
  // The parts of the shop read it when they open the sync.
  Object.assign(shop.env, {
    SOURCE_URL: urlOf(reader, PASSWORDS.reader),
    SOURCE_ADMIN_URL: urlOf(admin, PASSWORDS.admin),
  });
  const all = filesOf({ changes: `{ slot: ${slot}, publication: ${slot} }`, files });
  for (const [file, text] of Object.entries(all)) shop.write(file, text);
  onTestFinished(async () => {
    await shop.rest();
    await dropSlot(shop.source, slot);
    await shop.source.query(`DROP PUBLICATION IF EXISTS ${slot}; DROP SCHEMA IF EXISTS partner_sync_changes CASCADE;
      DROP ROLE IF EXISTS ${slot}_owner; DROP OWNED BY ${reader}; DROP ROLE ${reader}; DROP ROLE ${admin}`);
    await shop.close();
  });
  return {
    ...shop,
    slot,
    reader,
    async changes(args, env = {}) {
      const [command, ...options] = args.split(' ');
      const end = await runInProcess(['changes', command!, SYNC, ...options], { ...shop.env, ...env });
      for (const secret of [...Object.values(PASSWORDS), shop.token])
        expect(end.stdout + end.stderr).not.toContain(secret);
      return end;
    },
  };
}
