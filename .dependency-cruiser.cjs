// The walls of docs/architecture.md, as rules: who may import whom.
const only = (name, from, allowed) => ({
  name,
  severity: 'error',
  comment: `${from} may import only: ${allowed.join(', ')}`,
  from: { path: from },
  to: { pathNot: [from, ...allowed, 'node_modules', '^node:', '^[a-z_/]+$'], path: '^(src|workflows|activities)' },
});

/** The folders of src/delivery: each may import those before it, and the files beside them; these import no folder. */
const DELIVERY = ['parents', 'upload', 'chunk', 'load', 'small-tenants', 'pending', 'removals', 'run', 'live'];
const oneWayInDelivery = ['', ...DELIVERY.slice(0, -1)].map((folder, i) => ({
  name: `delivery-imports-one-way${folder && `-${folder}`}`,
  severity: 'error',
  comment: 'the folders of src/delivery stand in the order in which they may import each other (docs/architecture.md)',
  from: { path: folder === '' ? '^src/delivery/[^/]+$' : `^src/delivery/${folder}/` },
  to: { path: `^src/delivery/(${DELIVERY.slice(i).join('|')})/` },
}));

/** The folders of src/ledger: each may import those before it. */
const LEDGER = [
  'migrations',
  'database',
  'record-index',
  'changes',
  'runs',
  'mappings',
  'outcomes',
  'waiting',
  'batches',
  'checkpoint',
  'views',
  'retention',
  'forget',
];

/** The folders of src/domain: each may import those before it. */
const DOMAIN = ['timeouts', 'values', 'source', 'records', 'sync', 'run', 'monitoring'];
const oneWayIn = (module, folders) =>
  folders.slice(0, -1).map((folder, i) => ({
    name: `${module}-imports-one-way-${folder}`,
    severity: 'error',
    comment: `the folders of src/${module} stand in the order in which they may import each other (docs/architecture.md)`,
    from: { path: `^src/${module}/${folder}/` },
    to: { path: `^src/${module}/(${folders.slice(i + 1).join('|')})/` },
  }));

module.exports = {
  forbidden: [
    ...oneWayInDelivery,
    ...oneWayIn('ledger', LEDGER),
    ...oneWayIn('domain', DOMAIN),
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    { name: 'not-to-unresolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
    only('domain-imports-nothing', '^src/domain', []),
    only('patterns-alone', '^src/patterns', []),
    only('records-alone', '^src/records', ['^src/domain']),
    only('mapping-alone', '^src/mapping', ['^src/(domain|patterns|records)']),
    only('init-drafts-for-the-language', '^src/init', ['^src/(domain|mapping)']),
    only('project-alone', '^src/project', ['^src/(domain|config)']),
    only('source-alone', '^src/source', ['^src/(domain|postgres)']),
    only('ledger-alone', '^src/ledger', ['^src/(domain|records|postgres)']),
    {
      name: 'record-index-through-its-index',
      severity: 'error',
      comment: 'the rest of the ledger knows records, not the blocks that they are stored in',
      from: { pathNot: '^src/ledger/record-index/' },
      to: { path: '^src/ledger/record-index/', pathNot: '^src/ledger/record-index/index\\.ts$' },
    },
    {
      name: 'waiting-through-its-index',
      severity: 'error',
      comment: 'the states of waiting entries, and what moves between them, are in one place',
      from: { pathNot: '^src/ledger/waiting/' },
      to: { path: '^src/ledger/waiting/', pathNot: '^src/ledger/waiting/index\\.ts$' },
    },
    only('postgres-alone', '^src/postgres', []),
    only('observability-alone', '^src/observability', ['^src/domain']),
    only('config-alone', '^src/config', ['^src/domain']),
    only('platform-alone', '^src/platform', ['^src/domain']),
    only('contract-alone', '^src/platform/contract', ['^src/domain']),
    only('sandbox-from-the-contract', '^src/sandbox', ['^src/(domain|patterns|postgres)', '^src/platform/contract']),
    only('reading-maps-what-it-reads', '^src/reading', ['^src/(domain|records|mapping|source)']),
    only('delivery-uses-the-parts', '^src/delivery', ['^src/(domain|records|mapping|source|reading|ledger|platform)']),
    only('alerts-tell-what-the-ledger-knows', '^src/alerts', ['^src/(domain|config|mapping|ledger|platform)']),
    only('schema-push-alone', '^src/schema-push', ['^src/(domain|config|mapping|ledger|platform)']),
    only('inspection-sends-nothing', '^src/inspection', [
      '^src/(domain|records|mapping|source|reading|ledger|platform|delivery)',
    ]),
    only('report-shows-what-it-is-given', '^src/report', ['^src/domain']),
    only('runs-alone', '^src/runs', ['^src/(domain|ledger)']),
    only('activities-deliver', '^activities', [
      '^src/(domain|records|mapping|source|reading|ledger|platform|delivery|observability|alerts)',
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
      from: { pathNot: '^src/(source|ledger|postgres|embedded|sandbox)' },
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
      extensions: ['.ts', '.tsx', '.js', '.d.ts'],
    },
  },
};
