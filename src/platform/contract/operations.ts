/** The platform's operations (platform-api.md section 4), all of them. */
import { automationOperations } from './automations.js';
import { batchOperations } from './batches.js';
import { channelOperations } from './channels.js';
import { libraryOperations } from './library.js';
import type { Operation } from './operation.js';
import { reportOperations } from './reports.js';
import { resourceOperations } from './resources.js';
import { schemaDefinitionOperations } from './schema-definitions.js';
import { segmentOperations } from './segments.js';
import { sendingDomainOperations } from './sending-domains.js';

/** By the name of the client's method. A new operation is added to the file of its kind. */
export const operations = {
  ...schemaDefinitionOperations,
  ...resourceOperations,
  ...batchOperations,
  ...segmentOperations,
  ...channelOperations,
  ...sendingDomainOperations,
  ...automationOperations,
  ...libraryOperations,
  ...reportOperations,
} as const satisfies Record<string, Operation>;

/** The operations with their parts, by name. */
export type Operations = typeof operations;
/** The operation's id in the OpenAPI document, and the name of the client's method. */
export type OperationName = keyof Operations;

/** The operations as entries, in the order of their sections. */
export const operationEntries = (Object.entries(operations) as [OperationName, Operation][]).sort(
  ([, a], [, b]) => Number(a.section.slice(2)) - Number(b.section.slice(2)),
);
