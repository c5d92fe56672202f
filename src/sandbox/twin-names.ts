/** Gives the twin fields of an operation's answers the names that the settings ask for. */
import type { Operation } from '../platform/contract/operation.js';
import { renamer, withBothNames, withCamelNames, withSnakeNames, type Renaming } from '../platform/contract/twins.js';
import type { SandboxSettings } from './settings.js';

const RENAMINGS: Record<SandboxSettings['fieldNames'], Renaming> = {
  both: withBothNames,
  camel: withCamelNames,
  snake: withSnakeNames,
};

export const answerNames = (operation: Operation, names: SandboxSettings['fieldNames']): ((data: unknown) => unknown) =>
  renamer(operation.data, RENAMINGS[names]) ?? ((data) => data);
