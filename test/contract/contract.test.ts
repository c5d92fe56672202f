/** The whole interface, sentence by sentence: the client against the sandbox over HTTP, with several sets of settings. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operationEntries } from '../../src/platform/contract/operations.js';
import type { Proof, Proofs, Subject } from './proof.js';
import * as ingestion from './proofs/ingestion.js';
import * as messaging from './proofs/messaging.js';
import { getSmsRegistration, listTenantUsage, listVoiceAggregates, theInterface } from './proofs/reports.js';
import { SENTENCES } from './sentences.js';
import { openSetting, type Setting, type Variant } from './setting.js';

const PROOFS: { readonly [S in Subject]: Proofs<S> } = {
  'the interface': theInterface,
  listTenantUsage,
  listVoiceAggregates,
  getSmsRegistration,
  ...ingestion,
  ...messaging,
};

const names = { include: 'expand', referenceFormat: 'refs', includePendingDetails: 'pending' };
const VARIANTS: readonly Variant[] = [
  { name: 'as it comes', sandbox: {}, client: {} },
  { name: 'answers in snake_case only', sandbox: { fieldNames: 'snake' }, client: {} },
  { name: 'answers in camelCase only', sandbox: { fieldNames: 'camel' }, client: {} },
  { name: 'the alternative shape of errors', sandbox: { errorShape: 'alternative' }, client: {} },
  {
    name: 'another header for the token',
    sandbox: { authHeader: 'x-platform-token', authScheme: '' },
    client: { authHeader: 'x-platform-token', authScheme: '' },
  },
  { name: 'null for every field without a value', sandbox: { emptyFields: 'null' }, client: {} },
  { name: 'no field without a value', sandbox: { emptyFields: 'left_out' }, client: {} },
  { name: 'other names of parameters', sandbox: { parameterNames: names }, client: { parameterNames: names } },
];

describe('the list of sentences', () => {
  it('covers every operation', () => {
    const subjects = ['the interface', ...operationEntries.map(([name]) => name)];
    expect(Object.keys(SENTENCES).sort()).toEqual(subjects.sort());
  });

  it.each(Object.entries(SENTENCES))(
    'has a proof for each sentence about %s, and no proof without one',
    (subject, s) => {
      expect(Object.keys(PROOFS[subject as Subject]).sort()).toEqual([...s].sort());
    },
  );
});

describe.each(VARIANTS)('a platform with $name', (variant) => {
  let setting: Setting;
  beforeAll(async () => {
    setting = await openSetting(variant);
  });
  afterAll(() => setting?.close());

  describe.each(Object.entries(PROOFS))('%s', (_subject, proofs) => {
    it.each(Object.entries(proofs as Record<string, Proof>))('%s', (_sentence, proof) => proof(setting));
  });
});
