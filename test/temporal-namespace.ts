/** A namespace of a test's own on the Temporal server that the tests share, since ids of schedules are shared by all of one. */
import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { inject } from 'vitest';
import { attributeStates } from '../src/observability/search-attributes.js';
import { eventually } from './pipeline/shop.js';

export async function createNamespace(): Promise<string> {
  const namespace = `test-${randomUUID()}`;
  const connection = await Connection.connect({ address: inject('temporalAddress') });
  try {
    await connection.workflowService.registerNamespace({
      namespace,
      workflowExecutionRetentionPeriod: msToTs('1 day'),
    });
    const client = new Client({ connection, namespace });
    await eventually('the namespace', () =>
      attributeStates(client).then(
        () => true,
        () => false,
      ),
    );
  } finally {
    await connection.close();
  }
  return namespace;
}
