/** Gives an answer's twin fields the names that the settings ask for. */
import { withBothNames, withCamelNames, type TwinTable } from '../platform/contract/twins.js';
import type { SandboxSettings } from './settings.js';

/** `value` comes in camelCase. */
export function namesOf(value: object, twins: TwinTable, names: SandboxSettings['fieldNames']): object {
  switch (names) {
    case 'both':
      return withBothNames(value, twins);
    case 'camel':
      return withCamelNames(value, twins);
    case 'snake':
      return Object.fromEntries(Object.entries(value).map(([field, v]) => [twins[field] ?? field, v as unknown]));
  }
}
