/** 4.15: reads a communication group, the email and SMS content of an automation. */
import type { CommunicationGroup } from '../../platform/contract/automations.js';
import { Refusal } from '../refusal.js';
import { unstorableText } from '../storable.js';
import type { Handler } from './handler.js';

/** Section 4.15. Refuses with `notFound` for an unknown group or another tenant's. */
export const getCommunicationGroup: Handler<'getCommunicationGroup'> = async ({ params: { id }, tenant }, { pool }) => {
  const { rows } = await pool.query<{ content: Partial<CommunicationGroup> }>(
    'select content from sandbox.communication_groups where tenant_id = $1 and id = $2',
    [tenant.id, unstorableText(id, 'id') === undefined ? id : ''],
  );
  if (rows[0] === undefined) throw new Refusal('notFound', `no communication group with the id ${JSON.stringify(id)}`);
  return { message: 'communication group', data: { ...rows[0].content, id } };
};
