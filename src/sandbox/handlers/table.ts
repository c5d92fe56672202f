/** The handler of every operation of the contract; one that has none, and is not listed as such, does not compile. */
import type { OperationName } from '../../platform/contract/operations.js';
import { createChannelAccount } from './create-channel-account.js';
import { createChannelIntegration } from './create-channel-integration.js';
import { createSchemaDefinition } from './create-schema-definition.js';
import { createSendingDomain } from './create-sending-domain.js';
import { getAutomation } from './get-automation.js';
import { getBatch } from './get-batch.js';
import { getCommunicationGroup } from './get-communication-group.js';
import { getResource } from './get-resource.js';
import { getSmsRegistration } from './get-sms-registration.js';
import type { Handler } from './handler.js';
import { listChannelIntegrations } from './list-channel-integrations.js';
import { listTenantUsage } from './list-tenant-usage.js';
import { listVoiceAggregates } from './list-voice-aggregates.js';
import { syncLibrary } from './sync-library.js';
import { uploadResources, uploadTransactions } from './upload-resources.js';

/** Operations whose handler is still to be written: whoever writes one takes its name out. */
export const WITHOUT_HANDLER = ['textToSegment', 'countSegments'] as const satisfies readonly OperationName[];

type Handled = Exclude<OperationName, (typeof WITHOUT_HANDLER)[number]>;

export const handlers = {
  listTenantUsage,
  createSendingDomain,
  createSchemaDefinition,
  syncLibrary,
  createChannelAccount,
  createChannelIntegration,
  listChannelIntegrations,
  getAutomation,
  getCommunicationGroup,
  listVoiceAggregates,
  getSmsRegistration,
  uploadTransactions,
  uploadResources,
  getResource,
  getBatch,
} satisfies { [N in Handled]: Handler<N> };
