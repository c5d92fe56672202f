/** docs/platform.md lists the operations as the contract declares them. */
import { describe, expect, it } from 'vitest';
import { kebab } from '../../src/cli/platform/flags.js';
import type { Operation } from '../../src/platform/contract/operation.js';
import { operationEntries } from '../../src/platform/contract/operations.js';
import { readPage, sectionOf, tableIn } from './pages.js';

const page = readPage('docs/platform.md');

const WHO: Record<Operation['scope'], string> = { tenant: 'tenant', partner: 'platform', open: 'anybody' };

/** The table's row of an operation; whoever changes the contract copies it from the test's output. */
function rowOf(name: string, operation: Operation): string[] {
  const args = Object.keys(operation.params.properties).map((param) => ` <${kebab(param)}>`);
  return [
    operation.section,
    `\`${operation.method} ${operation.path}\``,
    `\`${name}\``,
    `\`platform ${operation.command}${args.join('')}\``,
    WHO[operation.scope],
    operation.idempotent ? 'yes' : '',
    [operation.summary, operation.description].filter(Boolean).join(' '),
  ];
}

describe('the page about the platform', () => {
  it('has a row for every operation, in the order of the sections', () => {
    expect(tableIn(sectionOf(page, 'Operations'))).toEqual(
      operationEntries.map(([name, operation]) => rowOf(name, operation)),
    );
  });
});
