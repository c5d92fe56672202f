/** Statements for people: as a script that the client of the database runs as it is, and as a list of what was done. */
import { printable } from '../output/text-table.js';
import type { RunStatements, ShownStatement } from './run-statements.js';

/** A comment of SQL of one line. */
export const comment = (text: string): string => `-- ${printable(text)}`;

/** Statements with a line above each that says what it is for. They are printed as they are: an escaped name is another one. */
export const scriptLines = (statements: readonly ShownStatement[]): string[] =>
  statements.flatMap(({ sql, why }) => [comment(why), `${sql};`]);

/** What became of each statement, in one line each. */
export const outcomeLines = (statements: readonly ShownStatement[]): string[] =>
  statements.map(({ sql, why, outcome }) => {
    const [first, ...others] = sql.split('\n');
    return `  ${outcome.padEnd(8)}  ${printable(others.length === 0 ? first! : `${first!} ... (${why})`)}`;
  });

/** Why a statement failed, and what to do; no lines if none did. */
export const failureLines = ({ failure }: RunStatements): string[] =>
  failure === null ? [] : ['', printable(`${failure.code}: ${failure.message}`), `  ${failure.remedy}`];
