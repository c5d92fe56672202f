/** 4.17: reads a tenant's application for sending text messages. */
import { findTenant, type Handler } from './handler.js';

interface Row {
  readonly id: string;
  readonly status: string;
  readonly application: unknown;
  readonly created_at: Date;
  readonly updated_at: Date;
}

/**
 * Section 4.17. `data` is null when the tenant has made no application. Refuses with `notFound` for an unknown tenant.
 */
export const getSmsRegistration: Handler<'getSmsRegistration'> = async ({ params }, services) => {
  const tenant = await findTenant(services, params.id);
  const { rows } = await services.pool.query<Row>(
    'select id, status, application, created_at, updated_at from sandbox.sms_registrations where tenant_id = $1',
    [tenant.id],
  );
  const row = rows[0];
  if (row === undefined) return { message: 'the tenant has no SMS registration', data: null };
  const { id, status, application, created_at: createdAt, updated_at: updatedAt } = row;
  return {
    message: 'SMS registration',
    data: { id, status, application, createdAt: createdAt.toISOString(), updatedAt: updatedAt.toISOString() },
  };
};
