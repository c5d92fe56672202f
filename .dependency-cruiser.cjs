// The walls of docs/architecture.md, as rules: who may import whom.
const only = (name, from, allowed) => ({
  name,
  severity: 'error',
  comment: `${from} may import only: ${allowed.join(', ')}`,
  from: { path: from },
  to: { pathNot: [from, ...allowed, 'node_modules', '^node:', '^[a-z_/]+$'], path: '^(src|workflows|activities)' },
});

module.exports = {
  forbidden: [
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    { name: 'not-to-unresolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
    only('domain-imports-nothing', '^src/domain', []),
    only('patterns-alone', '^src/patterns', []),
    only('mapping-alone', '^src/mapping', ['^src/(domain|patterns)']),
    only('init-drafts-for-the-language', '^src/init', ['^src/(domain|mapping)']),
    only('source-alone', '^src/source', ['^src/(domain|postgres)']),
    only('state-alone', '^src/state', ['^src/(domain|postgres)']),
    only('postgres-alone', '^src/postgres', []),
    only('observability-alone', '^src/observability', ['^src/domain']),
    only('config-alone', '^src/config', ['^src/domain']),
    only('platform-alone', '^src/platform', ['^src/domain']),
    only('contract-alone', '^src/platform/contract', ['^src/domain']),
    only('sandbox-from-the-contract', '^src/sandbox', ['^src/domain', '^src/patterns', '^src/platform/contract']),
    only('reading-maps-what-it-reads', '^src/reading', ['^src/(domain|mapping|source)']),
    only('activities-use-the-parts', '^activities', [
      '^src/(domain|mapping|source|reading|platform|state|observability)',
    ]),
    {
      name: 'workflows-are-pure',
      severity: 'error',
      from: { path: '^workflows' },
      to: { path: '^(src|activities)', pathNot: '^src/domain', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'drivers-only-beside-databases',
      severity: 'error',
      from: { pathNot: '^src/(source|state|postgres|embedded|sandbox)' },
      to: { path: 'node_modules/(knex|pg)/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
      extensions: ['.ts', '.js', '.d.ts'],
    },
  },
};
