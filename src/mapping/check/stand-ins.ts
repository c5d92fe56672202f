/** Stands in for variables that are not set where examples run: neither a source nor a target of alerts is used there. */
import { checkSyncFiles } from '../load-sync.js';
import { unsetVariable, type Environment } from '../language/interpolation.js';

/** By the key at which a variable stands: something of the form that is needed there. Elsewhere, the variable's own name. */
const STAND_INS: Readonly<Record<string, string>> = {
  connection: 'postgres://source.invalid/source',
  webhook: 'https://target.invalid/',
  slack: 'https://target.invalid/',
  ping: 'https://target.invalid/',
  email: 'nobody@example.com',
};

/** The environment, with a stand-in for each variable of the sync's files that is not set. */
export async function withStandIns(folder: string, sync: string, env: Environment): Promise<Environment> {
  const { findings } = await checkSyncFiles(folder, sync, env);
  const missing = findings.flatMap(({ kind, message, path }) => {
    const variable = kind === 'env_missing' ? unsetVariable(message) : undefined;
    const key = path
      .replace(/\[\d+\]$/, '')
      .split('.')
      .at(-1)!;
    return variable === undefined ? [] : [[variable, STAND_INS[key] ?? variable] as const];
  });
  return { ...env, ...Object.fromEntries(missing) };
}
