/** The steps of an installation or a removal. */
import type { InstallationStatement } from '../../domain/source/feed-installation.js';

/** A statement, and whether what it does is still to be done. */
export interface Step extends InstallationStatement {
  readonly isNeeded: boolean;
}

/** The statements that are still to be run. */
export const neededOf = (steps: readonly Step[]): InstallationStatement[] =>
  steps.filter(({ isNeeded }) => isNeeded).map(({ sql, why }) => ({ sql, why }));
