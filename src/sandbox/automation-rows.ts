/** Automations and communication groups as rows: columns for what is counted or decided by, the rest as they are. */

interface AutomationFields {
  readonly id: string;
  readonly status: string;
  readonly automationType: string;
  readonly triggerMetadata: { readonly triggerType: string };
}

/** Columns of an automation, without its tenant and times. */
export const automationRow = ({ id, status, automationType, ...content }: AutomationFields) => ({
  id,
  status,
  automation_type: automationType,
  trigger_type: content.triggerMetadata.triggerType,
  content,
});

export const communicationGroupRow = ({ id, ...content }: { readonly id: string }) => ({ id, content });
