/**
 * Converts automations and communication groups to database rows: columns for the fields that queries filter or count
 * by, and one JSON column for the rest.
 */

/** The fields of an automation that become columns of their own. */
interface AutomationFields {
  readonly id: string;
  readonly status: string;
  readonly automationType: string;
  readonly triggerMetadata: { readonly triggerType: string };
}

/**
 * The columns of `sandbox.automations` that come from the automation itself; the caller adds the tenant and the times.
 */
export const automationRow = ({ id, status, automationType, ...content }: AutomationFields) => ({
  id,
  status,
  automation_type: automationType,
  trigger_type: content.triggerMetadata.triggerType,
  content,
});

/** The columns of `sandbox.communication_groups` except the tenant. */
export const communicationGroupRow = ({ id, ...content }: { readonly id: string }) => ({ id, content });
