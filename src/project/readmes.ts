/** The pages of a new project. */

/** The page of the project `name`. */
export const readme = (name: string, sourceVariable: string): string => `# ${name}

Keeps the platform in sync with our database, with partner-sync. The syncs are in \`mappings/\`.

1. \`npm install\`, then copy \`.env.example\` to \`.env\` and fill in \`${sourceVariable}\`.
2. \`npm run dev\` in a terminal of its own starts the servers for development; nothing leaves this machine.
3. \`npx partner-sync init ${name} --source ${sourceVariable} --tenant demo-shop\` drafts the first sync; decide on its lines marked DECIDE.
4. \`npx partner-sync check ${name}\`, \`preview\`, \`schema push\` and \`run\` come next; \`npx partner-sync --help\` lists all commands.

\`npm run check\` and \`npm test\` check all syncs without a database, as CI does in \`.github/workflows/mappings.yml\`.
`;

/** The page of the mappings folder. */
export const mappingsReadme = (name: string): string => `# Mappings

Each folder here is a sync, such as \`${name}/\`:

- \`sync.yaml\`: the source, the tenant, schedules and limits.
- \`<name>.mapping.yaml\`: how the rows of a table become records.
- \`<name>.examples.yaml\`: rows and the records that they must become; \`npm test\` runs them.
- \`<schema>.schema.json\`: a schema definition of the platform.

The first line of each YAML file names a JSON Schema, by which editors with a YAML language server complete and check it.
\`npx partner-sync init\` writes these schemas here.
`;
