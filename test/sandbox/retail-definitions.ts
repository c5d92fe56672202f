/** The schema definitions of the online retail demo, and a clock at the time of its data. */
import { readFileSync } from 'node:fs';
import type { Definition } from '../../src/sandbox/segments/vocabulary.js';

const read = (name: string): Definition =>
  JSON.parse(
    readFileSync(new URL(`../../mappings/online-retail/${name}.schema.json`, import.meta.url), 'utf8'),
  ) as Definition;

export const RETAIL: readonly Definition[] = ['customer', 'transactions', 'order_line'].map(read);
export const RETAIL_NOW = new Date('2010-12-09T12:00:00Z');
