/** Bad files, each with all findings of `check`: place, value and what was expected, and no others. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { findingsOf } from './sync-on-disk.js';

interface BadFile {
  title: string;
  text: string;
  findings: string[];
}

const CORPUS = { 'sync.yaml': 'sync', 'people.mapping.yaml': 'mapping', 'person.schema.json': 'definition' };

describe.each(Object.entries(CORPUS))('a bad %s', (file, name) => {
  const text = readFileSync(new URL(`corpus/${name}.yaml`, import.meta.url), 'utf8');

  it.each(parse(text) as BadFile[])('$title', async ({ text, findings }) => {
    const found = await findingsOf({ [file]: text });
    expect(found).toEqual(findings);
    expect(found).not.toEqual([]);
    // No finding is a stack trace, and none quotes the password.
    expect(found.join('\n')).not.toMatch(/\n {4}at |hunter2/);
  });
});
