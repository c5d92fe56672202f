/** The handler of every operation of the contract; one that has none, and is not listed as such, does not compile. */
import type { OperationName } from '../../platform/contract/operations.js';
import { countSegments } from './count-segments.js';
import { createSchemaDefinition } from './create-schema-definition.js';
import { getBatch } from './get-batch.js';
import { getResource } from './get-resource.js';
import type { Handler } from './handler.js';
import { textToSegment } from './text-to-segment.js';
import { uploadResources, uploadTransactions } from './upload-resources.js';

/** Operations whose handler is still to be written: whoever writes one takes its name out. */
export const WITHOUT_HANDLER = [
  'listTenantUsage',
  'createSendingDomain',
  'syncLibrary',
  'createChannelAccount',
  'createChannelIntegration',
  'listChannelIntegrations',
  'getAutomation',
  'getCommunicationGroup',
  'listVoiceAggregates',
  'getSmsRegistration',
] as const satisfies readonly OperationName[];

type Handled = Exclude<OperationName, (typeof WITHOUT_HANDLER)[number]>;

export const handlers = {
  createSchemaDefinition,
  uploadTransactions,
  uploadResources,
  getResource,
  getBatch,
  textToSegment,
  countSegments,
} satisfies { [N in Handled]: Handler<N> };
