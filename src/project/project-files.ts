/** The files of a new project: what each contains, and how it joins a file that is there already. */
import { environmentExample } from '../config/environment.js';
import { ciExample } from './ci-example.js';
import { mappingsReadme, readme } from './readmes.js';

/** What a project is made of, except its package.json. */
export interface ProjectFile {
  /** Relative to the project's folder. */
  readonly path: string;
  readonly text: string;
  /** An existing file gets the lines that it lacks; otherwise it stays as it is. */
  readonly addsLines?: true;
}

/** What belongs to this machine, or contains secrets or values of rows. */
const IGNORED = ['node_modules/', '.env', '.partner-sync/', '*.plan.json', 'dead-letters.csv'];

/** The variables that production needs; docs/configuration.md has the others. */
const VARIABLES = ['PARTNER_SYNC_STATE_URL', 'PLATFORM_BASE_URL', 'PLATFORM_TOKEN', 'TEMPORAL_ADDRESS'] as const;

/** The files of the project `name`, which is also the name of its first sync. `sourceVariable` holds the source's address. */
export const projectFiles = (name: string, sourceVariable: string): readonly ProjectFile[] => [
  { path: 'README.md', text: readme(name, sourceVariable) },
  { path: '.gitignore', text: `${IGNORED.join('\n')}\n`, addsLines: true },
  { path: '.env.example', text: envExample(sourceVariable), addsLines: true },
  { path: 'mappings/README.md', text: mappingsReadme(name) },
  { path: '.github/workflows/mappings.yml', text: ciExample() },
];

const envExample = (sourceVariable: string): string =>
  `# Copy to .env, which is never committed. \`partner-sync dev\` needs only the source.

# the address of the source: the database that is read
${sourceVariable}=postgres://reader:secret@127.0.0.1:5432/shop

# For production. While one of these is set, the servers of \`partner-sync dev\` are not used.

${environmentExample(VARIABLES).replace(/^(?=[A-Z])/gm, '# ')}`;
