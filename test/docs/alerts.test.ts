/** docs/monitoring.md says what people are told, as the program tells it. */
import { expect, it } from 'vitest';
import { testNotice } from '../../src/alerts/notice.js';
import type { Notice } from '../../src/domain/alerts.js';
import { HEALTH_TRIGGERS } from '../../src/domain/sync-health.js';
import { readPage, sectionOf, tableIn, withoutTicks } from './pages.js';

const page = readPage('docs/monitoring.md');
const firstCells = (text: string): string[] => tableIn(text).map(([cell]) => withoutTicks(cell!));
const FIELDS = Object.keys(testNotice('shop', new Date(0)));

it('the body of a webhook has the fields of the page, and so has its example', () => {
  const section = sectionOf(page, 'A webhook');
  expect(firstCells(section)).toEqual(FIELDS);
  const example = JSON.parse(/```json notice\n([\s\S]*?)```/.exec(section)![1]!) as Notice;
  expect(Object.keys(example)).toEqual(FIELDS);
  expect(HEALTH_TRIGGERS).toContain(example.problem);
});

it('every trigger is explained where problems are, and where alerts are', () => {
  expect(firstCells(sectionOf(page, "What is wrong, by a sync's own limits"))).toEqual(HEALTH_TRIGGERS);
  const triggers = /^\| Trigger[\s\S]*?\n\n/m.exec(sectionOf(page, 'Alerts sent by partner-sync'))![0];
  expect(firstCells(triggers)).toEqual(HEALTH_TRIGGERS);
});
