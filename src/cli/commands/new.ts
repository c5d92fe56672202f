/**
 * `partner-sync new`: lays out a project of one's own, in a folder that depends on partner-sync or in a new one.
 *
 * Needs no server. Existing files keep all that they contain. Exit codes: 0 laid out, 2 wrong usage, or something is in
 * the way; then nothing was written.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import type { Command } from 'commander';
import { PartnerSyncError } from '../../domain/errors.js';
import { isSyncName, sourceVariableOf, SYNC_NAME_PATTERN } from '../../domain/values/names.js';
import { dependsOnPackage, parsePackageJson } from '../../project/package-json.js';
import { writeProject, type LaidOutFile } from '../../project/write-project.js';
import { EXIT, reportError } from '../command-context.js';
import { createOutput } from '../output/output.js';
import { packageVersion } from '../../config/package-version.js';

export function addNew(program: Command): void {
  program
    .command('new')
    .description(
      'Lays out a project: mappings, .env.example, .gitignore, scripts of package.json, an example of CI and a README. If package.json of this folder depends on partner-sync, here, otherwise in a new folder of that name. Existing files keep what they contain.',
    )
    .argument('<name>', 'name of the project, and of its first sync')
    .option('--folder <folder>', 'lay it out in this folder')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      '\nExamples:\n  npm install partner-sync && npx partner-sync new shop\n  partner-sync new shop --folder .\n\nExit codes: 0 laid out; 2 wrong usage, or something is in the way (nothing was written)',
    )
    .action(async (name: string, { folder: chosen, json }: { folder?: string; json?: boolean }) => {
      const output = createOutput(json === true);
      try {
        if (!isSyncName(name))
          throw new PartnerSyncError(
            'input_invalid',
            `a project's name must match ${SYNC_NAME_PATTERN}; got "${name}"`,
          );
        const folder = resolve(chosen ?? (isProject(process.cwd()) ? '.' : name));
        const sourceVariable = sourceVariableOf(name);
        const files = await writeProject({ folder, name, sourceVariable, version: packageVersion() });
        const next = nextSteps(folder);
        output.result({ project: name, folder, files, next }, () => [
          ...files.map(fileLine),
          '',
          `The project ${name} is laid out in ${folder}. Next:`,
          ...next.map((step, i) => `  ${i + 1}. ${step}`),
        ]);
        process.exitCode = EXIT.done;
      } catch (error) {
        process.exitCode = reportError(output, error);
      }
    });
}

/** Whether the folder is a project that depends on partner-sync, as after `npm install partner-sync`. */
function isProject(folder: string): boolean {
  const file = join(folder, 'package.json');
  return existsSync(file) && dependsOnPackage(parsePackageJson(readFileSync(file, 'utf8')));
}

const fileLine = ({ file, action, added }: LaidOutFile): string =>
  `${action}: ${file}${added.length === 0 ? '' : ` (added: ${added.join(', ')})`}`;

function nextSteps(folder: string): string[] {
  const away = relative(process.cwd(), folder);
  return [
    ...(away === '' ? [] : [`cd ${away}`]),
    ...(existsSync(join(folder, 'node_modules', 'partner-sync')) ? [] : ['npm install']),
    'cp .env.example .env, and fill in the address of the source',
    'follow README.md',
  ];
}
