/** References that form a cycle: records are sent without them first, then completely. */
import { expect, it } from 'vitest';
import { runInProcess } from '../cli/in-process.js';
import { eventually, NO_OPEN_ENDS, openEnds, shopForTest, SYNC, text, type Shop } from './shop.js';

const schema = (name: string, id: string, properties: object): string =>
  JSON.stringify({
    name,
    category: 'custom_schema',
    externalIdField: id,
    schema: { type: 'object', properties: { [id]: text, ...properties }, required: [id], additionalProperties: false },
  });
const files = (wait = '0s') => ({
  'sync.yaml': `source: { connection: '\${env:SOURCE_URL}' }
tenant: north
upload: { inDoubtDelay: 1s, waitForPending: 20s, batchSize: 40 }
`,
  'employees.mapping.yaml': `schema: employee
source: { table: staff.employees }
key: [id]
cursor: { column: updated_at, overlap: 0s }
fields:
  employeeId: id
  managerId: { ref: employees, column: manager_id }
  departmentId: { ref: departments, column: department_id }
options: { dependencyWaitTimeout: ${wait} }
`,
  'departments.mapping.yaml': `schema: department
source: { table: staff.departments }
key: [id]
cursor: { column: updated_at, overlap: 0s }
fields:
  departmentId: id
  headId: { ref: employees, column: head_id }
options: { dependencyWaitTimeout: ${wait} }
`,
  'badges.mapping.yaml': `schema: badge
source: { table: staff.badges }
key: [id]
fields:
  badgeId: id
  employeeId: { ref: employees, column: employee_id }
options: { dependencyWaitTimeout: ${wait} }
`,
  'employee.schema.json': schema('employee', 'employeeId', {
    managerId: { $ref: 'employee' },
    departmentId: { $ref: 'department' },
  }),
  'department.schema.json': schema('department', 'departmentId', { headId: { $ref: 'employee' } }),
  'badge.schema.json': schema('badge', 'badgeId', { employeeId: { $ref: 'employee' } }),
});

/** Everybody's manager has the next higher id, and is read later; the last one has none. Heads work in their own departments. */
const staff = (employees: number): string => `
  CREATE SCHEMA staff;
  CREATE TABLE staff.departments (id integer PRIMARY KEY, head_id integer, updated_at timestamptz NOT NULL DEFAULT now());
  CREATE TABLE staff.employees (id integer PRIMARY KEY, manager_id integer, department_id integer, updated_at timestamptz NOT NULL DEFAULT now());
  CREATE TABLE staff.badges (id integer PRIMARY KEY, employee_id integer);
  INSERT INTO staff.employees (id, manager_id, department_id)
    SELECT i, nullif(i + 1, ${employees + 1}), i % 10 + 1 FROM generate_series(1, ${employees}) i;
  INSERT INTO staff.departments (id, head_id) SELECT i, (i + 8) % ${employees} + 1 FROM generate_series(1, 10) i;
  INSERT INTO staff.badges SELECT i, i FROM generate_series(1, 3) i;`;

const open = (employees: number, wait?: string): Promise<Shop> =>
  shopForTest({ other: { files: files(wait), load: async (source) => void (await source.query(staff(employees))) } });

it('loads managers and heads of departments in the wrong order, without waiting for any of them', async () => {
  const shop = await open(300);

  const report = await shop.run();

  expect(report).toMatchObject({ outcome: 'complete', total: { read: 313, accepted: 313, deadLettered: 0 } });
  expect(await shop.stored('employee', '7')).toEqual({ employeeId: '7', managerId: '8', departmentId: '8' });
  expect(await shop.stored('department', '3')).toEqual({ departmentId: '3', headId: '12' });
  expect(await shop.differences()).toBe(0);
  expect(await openEnds(shop)).toEqual(NO_OPEN_ENDS);

  shop.proxy.forget();
  expect((await shop.run({ mode: 'full' })).total).toMatchObject({ read: 313, unchanged: 313 });
  expect(shop.proxy.uploads()).toBe(0);

  // A pair that refers to each other, new in an incremental run; and a changed record is sent once, in full.
  await shop.source
    .query(`INSERT INTO staff.employees VALUES (901, 902, 1, clock_timestamp()), (902, 901, 1, clock_timestamp());
    UPDATE staff.employees SET manager_id = 901, updated_at = clock_timestamp() WHERE id = 5`);
  shop.proxy.forget();
  expect(await shop.run()).toMatchObject({ outcome: 'complete', total: { accepted: 3 } });
  expect(await shop.stored('employee', '901')).toMatchObject({ managerId: '902' });
  expect(await shop.stored('employee', '902')).toMatchObject({ managerId: '901' });
  expect(shop.proxy.requests.filter((r) => r.upload && r.body.includes('"employeeId":"5"'))).toHaveLength(1);
  expect(await shop.differences()).toBe(0);
});

it('completes the second pass after another worker takes over during the first', async () => {
  const shop = await open(120);
  let pending = 0;
  shop.proxy.fail((request) => (request.upload && pending++ === 1 ? { forward: true, answer: 'hang' } : undefined));
  const run = await shop.start('sync', { sync: SYNC });
  await eventually('an upload hangs', () => Promise.resolve(pending > 1));
  shop.proxy.fail(undefined);

  expect(await run.result()).toMatchObject({ outcome: 'complete', total: { read: 133, accepted: 133 } });
  expect(await shop.differences()).toBe(0);
});

it('fetches parents that refer to each other when only their child is loaded', async () => {
  const shop = await open(4, '10m');
  await shop.source.query('UPDATE staff.employees SET manager_id = 1 WHERE id = 4');

  const report = await shop.run({ mappings: ['badges'] });

  expect(report.outcome).toBe('complete');
  for (const [id, managerId] of [
    ['1', '2'],
    ['3', '4'],
    ['4', '1'],
  ] as const)
    expect(await shop.stored('employee', id)).toMatchObject({ managerId });
  expect(await shop.stored('badge', '3')).toMatchObject({ employeeId: '3' });
  expect(await openEnds(shop)).toEqual(NO_OPEN_ENDS);
});

it('reports with check which references need a second pass, and refuses a cycle of required ones', async () => {
  const shop = await open(1);
  const ended = await runInProcess(['check', SYNC, '--offline'], shop.env);
  expect(ended.stdout).toContain(
    'order: employees without managerId, departmentId -> badges + departments -> employees',
  );
  expect(ended.code).toBe(0);

  shop.write(
    'employee.schema.json',
    files()['employee.schema.json'].replace('["employeeId"]', '["employeeId","managerId"]'),
  );
  const refused = await runInProcess(['check', SYNC, '--offline'], shop.env);
  expect(refused.stdout).toContain(
    'error reference_cycle fields.managerId.ref: the mappings refer to each other in a cycle',
  );
  expect(refused.code).toBe(1);
});

it('sends a sample with everybody its rows refer to, around the cycle', async () => {
  const shop = await open(6);

  const report = await shop.run({ limit: 1, mappings: ['badges'] });

  // Badge 1 is of employee 1, under managers 2 to 6; their departments 2 to 7 have heads among them.
  expect(report).toMatchObject({ outcome: 'complete', total: { deadLettered: 0, waiting: 0 } });
  expect(await shop.stored('badge', '1')).toEqual({ badgeId: '1', employeeId: '1' });
  expect(await shop.stored('employee', '1')).toEqual({ employeeId: '1', managerId: '2', departmentId: '2' });
  expect(await shop.stored('employee', '6')).toMatchObject({ departmentId: '7' });
  expect(await shop.stored('badge', '2')).toBeNull();
  expect(await openEnds(shop)).toEqual(NO_OPEN_ENDS);
});

it('marks the record of an employee whose row is gone, even if employees refer to each other', async () => {
  const shop = await open(9);
  const mapping = files()['employees.mapping.yaml'];
  shop.write('employees.mapping.yaml', `${mapping}deletes: { action: { clear: [managerId, departmentId] } }\n`);
  await shop.run();
  await shop.source.query('DELETE FROM staff.employees WHERE id = 5');

  const report = await shop.run({ mode: 'mirror', mappings: ['employees'] });

  expect(report).toMatchObject({
    outcome: 'complete',
    total: { read: 9, unchanged: 8, accepted: 1 },
    removals: [{ mapping: 'employees', state: 'done', records: 1, marked: 1, waiting: 0, deadLettered: 0 }],
  });
  expect(await shop.stored('employee', '5')).toEqual({ employeeId: '5' });
  expect(await openEnds(shop)).toEqual(NO_OPEN_ENDS);
});
