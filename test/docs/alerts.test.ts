/** docs/monitoring.md explains notifications and triggers as the program has them. */
import { expect, it } from 'vitest';
import { testNotification } from '../../src/alerts/notification.js';
import type { Notification } from '../../src/domain/monitoring/alerts.js';
import { HEALTH_TRIGGERS } from '../../src/domain/monitoring/sync-health.js';
import { readPage, sectionOf, tableIn, withoutTicks } from './pages.js';

const page = readPage('docs/monitoring.md');
const firstCells = (text: string): string[] => tableIn(text).map(([cell]) => withoutTicks(cell!));
const FIELDS = Object.keys(testNotification('shop', new Date(0)));

it('the body of a webhook has the fields of the page, and so has its example', () => {
  const section = sectionOf(page, 'A webhook');
  expect(firstCells(section)).toEqual(FIELDS);
  const example = JSON.parse(/```json notification\n([\s\S]*?)```/.exec(section)![1]!) as Notification;
  expect(Object.keys(example)).toEqual(FIELDS);
  expect(HEALTH_TRIGGERS).toContain(example.problem);
});

it('every trigger is explained, once, in their order', () => {
  expect(firstCells(sectionOf(page, "What is wrong, by a sync's own limits"))).toEqual(HEALTH_TRIGGERS);
});
