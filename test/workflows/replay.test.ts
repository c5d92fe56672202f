/** The workflows replay the histories of every kind of run, and a change that would break running ones is noticed. */
import { DeterminismViolationError } from '@temporalio/workflow';
import { Worker, type ReplayWorkerOptions } from '@temporalio/worker';
import { describe, expect, it } from 'vitest';
import { quietRuntime } from '../pipeline/shop.js';
import { workflowBundle } from '../workflow-bundle.js';
import { endOf, historyIn, readable, recordedOf, stepsOf, VERSION, versions, type Recorded } from './histories.js';
import { bundleWith, UNNOTICED, UNSAFE } from './planted-changes.js';
import { SHAPES } from './shapes.js';

const ALL = versions().flatMap(recordedOf);
const CURRENT = ALL.filter(({ version }) => version === VERSION);
const executionsOf = (shape: string) => CURRENT.filter((recorded) => recorded.shape === shape).map(historyIn);

/** Replays them, and returns the errors by `version/shape.execution`. */
async function errorsOf(
  workflowBundle: ReplayWorkerOptions['workflowBundle'],
  recorded: readonly Recorded[],
): Promise<Map<string, Error>> {
  quietRuntime();
  const histories = recorded.map((one) => ({
    workflowId: `${one.version}/${one.shape}.${one.execution}`,
    history: historyIn(one),
  }));
  const errors = new Map<string, Error>();
  let replayed = 0;
  for await (const { workflowId, error } of Worker.runReplayHistories({ workflowBundle }, histories)) {
    replayed += 1;
    if (error !== undefined) errors.set(workflowId, error);
  }
  expect(replayed).toBe(recorded.length);
  return errors;
}

it('has a history of every shape, recorded by this version', () => {
  expect([...new Set(CURRENT.map(({ shape }) => shape))].sort()).toEqual(Object.keys(SHAPES).sort());
});

describe.each(Object.entries(SHAPES))('%s', (name, { ends, does = [], lacks = [], continues, beginsAgain }) => {
  it('is what its history shows', () => {
    const executions = executionsOf(name);
    const steps = executions.flatMap((history) => [...stepsOf(history)]);
    expect(steps).toEqual(expect.arrayContaining([...does]));
    expect(steps.filter((step) => lacks.includes(step))).toEqual([]);
    expect(executions.map(endOf)).toEqual([...executions.slice(1).map(() => 'continued'), ends]);
    expect(executions.length > 1).toBe(continues === true || beginsAgain === true);
  });
});

it('keeps rows, tokens, passwords and what is about a machine out of them', () => {
  const unwanted = {
    'an address': /[\w.]+@[\w-]+\.[a-z]{2}/,
    'a name': /Customer \d|Changed \d|Late"|South/,
    'a token': /eyJ[\w-]{10}/,
    'a connection string': /(postgres(ql)?|mysql|mariadb):\/\//,
    'a secret': /secret|password/i,
    'a path': /\/(home|root|tmp|work|Users)\//,
    'a machine': /"\d{2,}@/,
  };
  const found = ALL.flatMap(({ shape, json }) =>
    Object.entries(unwanted).flatMap(([what, pattern]) => (pattern.test(readable(json)) ? `${shape}: ${what}` : [])),
  );
  expect(found).toEqual([]);
});

it.each([
  ['', false],
  [' on a worker with traces', true],
])('are replayed%s', async (_, traced) => {
  expect(await errorsOf(await workflowBundle(traced), ALL)).toEqual(new Map());
});

describe('a change without a guard is noticed:', () => {
  it.each(Object.entries(UNSAFE))('%s', async (name, change) => {
    const histories = CURRENT.filter(({ shape }) => [change.concerns, change.spares].includes(shape));
    const errors = await errorsOf(await bundleWith(name, change), histories);
    expect(new Set([...errors.keys()].map((id) => id.split(/[/.]/).at(-2)))).toEqual(new Set([change.concerns]));
    expect([...errors.values()].filter((error) => !(error instanceof DeterminismViolationError))).toEqual([]);
  });
});

describe('a change of what activities are given is not noticed:', () => {
  it.each(Object.entries(UNNOTICED))('%s', async (name, change) => {
    const histories = CURRENT.filter(({ shape }) => shape === change.concerns);
    expect(await errorsOf(await bundleWith(name, change), histories)).toEqual(new Map());
  });
});
