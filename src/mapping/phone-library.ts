/** The library that knows telephone numbers: loaded by the first mapping that has one, since that takes a tenth of a second. */
import { createRequire } from 'node:module';
import type * as Library from 'libphonenumber-js/max';

const require = createRequire(import.meta.url);

/** With the full metadata: the small set knows lengths only and would call many impossible numbers valid. */
export const phoneLibrary = (): typeof Library => require('libphonenumber-js/max') as typeof Library;
