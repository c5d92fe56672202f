/** The handler of every operation; an operation of the contract that has none does not compile. */
import type { OperationName } from '../../platform/contract/operations.js';
import { createSchemaDefinition } from './create-schema-definition.js';
import { getBatch } from './get-batch.js';
import { getResource } from './get-resource.js';
import type { Handler } from './handler.js';
import { uploadResources, uploadTransactions } from './upload-resources.js';

export const handlers = {
  createSchemaDefinition,
  uploadTransactions,
  uploadResources,
  getResource,
  getBatch,
} satisfies { [N in OperationName]: Handler<N> };
