/** The command line's commands, grouped as people look for them. */
import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { addCheck } from './commands/check.js';
import { addDeadLetters } from './commands/dead-letters.js';
import { addDoctor } from './commands/doctor.js';
import { addInit } from './commands/init.js';
import { addPlatform } from './commands/platform.js';
import { addPreview } from './commands/preview.js';
import { addExplain } from './commands/explain.js';
import { addReconcile } from './commands/reconcile.js';
import { addBackfill, addRun } from './commands/run.js';
import { addSandbox } from './commands/sandbox.js';
import { addSchedules } from './commands/schedules.js';
import { addSchema } from './commands/schema.js';
import { addStatus } from './commands/status.js';
import { addWorker } from './commands/worker.js';
import { EXIT_HELP } from './command-context.js';
import { packageFile } from './package-file.js';

export function createProgram(): Command {
  const { version } = JSON.parse(readFileSync(packageFile(), 'utf8')) as { version: string };
  const program = new Command('partner-sync')
    .description("Keeps a messaging platform exactly in step with a partner's own SQL database.")
    .version(version)
    .showSuggestionAfterError()
    .addHelpText('after', `\nFirst steps: npm run demo (everything on this machine), then npm run dev.\n${EXIT_HELP}`);
  program.commandsGroup('Author:');
  addInit(program);
  addCheck(program);
  addDoctor(program);
  addSchema(program);
  addPreview(program);
  program.commandsGroup('Run:');
  addRun(program);
  addBackfill(program);
  addSchedules(program);
  program.commandsGroup('Repair:');
  addDeadLetters(program);
  addExplain(program);
  program.commandsGroup('Prove:');
  addReconcile(program);
  addStatus(program);
  program.commandsGroup('Operate:');
  addWorker(program);
  addSandbox(program);
  addPlatform(program);
  return program;
}
