/** Assigns a handler to every operation of the contract; an operation without one is a compile error. */
import type { OperationName } from '../../platform/contract/operations.js';
import { countSegments } from './count-segments.js';
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
import { textToSegment } from './text-to-segment.js';
import { uploadResources, uploadTransactions } from './upload-resources.js';

/** Handlers by the operation's name in the contract. */
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
  textToSegment,
  countSegments,
} satisfies { [N in OperationName]: Handler<N> };
