/** Imports the code of a transform from its text, so that what runs is what was hashed. */
import type { parse as Parse } from 'es-module-lexer';
import { PartnerSyncError } from '../../../domain/errors.js';
import { withoutImpureGlobalsForNow } from './impure-globals.js';

/** The one module that a transform's file may import; it has nothing but types and a function that returns its argument. */
const HELPER = 'partner-sync/transforms';
const HELPER_CODE = dataUrl('export const defineTransform = (transform) => transform;');

/** Called by the first statement of each file, whose body must be as pure as the transform. */
const BEGIN = 'partner-sync: a transform is evaluated';

/**
 * The default export of the module with this text. Throws `config_invalid`, with what is wrong for people; the messages of
 * JavaScript are part of it, since the text comes from the author of the sync.
 */
export async function evaluated(text: string): Promise<unknown> {
  const code = await selfContained(text);
  Object.defineProperty(globalThis, Symbol.for(BEGIN), { value: withoutImpureGlobalsForNow, configurable: true });
  try {
    // On the first line, so that the lines of errors stay right.
    const url = dataUrl(`globalThis[Symbol.for(${JSON.stringify(BEGIN)})]();${code}`);
    const module = (await import(/* @vite-ignore */ url)) as { readonly default?: unknown };
    return module.default;
  } catch (error) {
    throw refused(
      `cannot be loaded: ${error instanceof Error ? `${error.name}: ${error.message}` : 'it threw no error'}`,
    );
  }
}

/** The text, with the helper in place of its name. Throws `config_invalid` if it imports anything else. */
async function selfContained(text: string): Promise<string> {
  const { init, parse } = await import('es-module-lexer');
  await init;
  const imports = importsOf(parse, text);
  let code = text;
  for (const { n: name, s: start, e: end, d: dynamic } of imports.toReversed()) {
    if (dynamic === -2) continue; // import.meta
    if (dynamic !== -1 || name !== HELPER)
      throw refused(
        `imports ${dynamic === -1 ? `"${name}"` : 'something while it runs'}; a transform's file must be complete in itself, so that its version is that of its code: bundle what it needs into it`,
      );
    code = code.slice(0, start) + HELPER_CODE + code.slice(end);
  }
  return code;
}

function importsOf(parse: typeof Parse, text: string): ReturnType<typeof Parse>[0] {
  try {
    return parse(text)[0];
  } catch {
    // The lexer has no words for what is wrong; importing the text has.
    return [];
  }
}

const refused = (what: string): PartnerSyncError => new PartnerSyncError('config_invalid', what);

function dataUrl(text: string): string {
  return `data:text/javascript;base64,${Buffer.from(text).toString('base64')}`;
}
