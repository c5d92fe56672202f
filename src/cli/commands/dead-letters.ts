/** `partner-sync dead-letters`: rows that could not be delivered. Each of its commands has a file of its own. */
import type { Command } from 'commander';
import { addDrop } from './dead-letters/drop.js';
import { addExport } from './dead-letters/export.js';
import { addList, addShow } from './dead-letters/list.js';
import { addReplay } from './dead-letters/replay.js';

export function addDeadLetters(program: Command): void {
  const deadLetters = program.command('dead-letters');
  addList(deadLetters);
  addShow(deadLetters);
  addExport(deadLetters);
  addReplay(deadLetters);
  addDrop(deadLetters);
}
