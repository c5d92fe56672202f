/** The pages on which people confirm an action, and on which they see what its command does. */
import type { FastifyInstance } from 'fastify';
import type { Actor, NewAuditEntry } from '../../domain/run/audit.js';
import { PartnerSyncError } from '../../domain/errors.js';
import { links } from '../links.js';
import { userOf } from '../login/open-login.js';
import type { SendPage } from '../send-page.js';
import { actionPage, jobPage } from './action-pages.js';
import { valuesOf } from './action-values.js';
import { actionNamed } from './actions.js';
import type { Jobs } from './jobs.js';

/** What actions are done with. */
export interface ActionParts {
  readonly jobs: Jobs;
  /** Writes an entry of the audit for an action whose command writes none. */
  readonly audit: (entry: NewAuditEntry) => Promise<void>;
  /** Who it is done for where nobody has to log in. */
  readonly operator: string;
}

interface Request {
  readonly Params: { readonly action: string };
  readonly Querystring: Readonly<Record<string, unknown>>;
  readonly Body: Readonly<Record<string, unknown>> | undefined;
}

export function serveActions(app: FastifyInstance, { jobs, audit, operator }: ActionParts, send: SendPage): void {
  app.get<Request>('/actions/:action', (request, reply) => {
    const { action: name } = request.params;
    const action = actionNamed(name);
    return send(request, reply, actionPage(name, action, valuesOf(action, request.query, { complete: false })));
  });
  app.post<Request>('/actions/:action', async (request, reply) => {
    const action = actionNamed(request.params.action);
    const values = valuesOf(action, request.body ?? {}, { complete: true });
    const who = `${userOf(request) ?? operator}, in the console`;
    const sync = values['sync']!;
    if (action.audited !== undefined)
      await audit({ sync, action: action.audited, actor: { who, origin: 'cli' } satisfies Actor, subject: {} });
    const job = jobs.start(action.title(values), sync, action.args(values), who);
    return reply.redirect(links.job(job.id), 303);
  });
  app.get<{ Params: { id: string } }>('/jobs/:id', (request, reply) => {
    const job = jobs.find(request.params.id);
    if (job === undefined)
      throw new PartnerSyncError(
        'input_invalid',
        'this command is not known any more: the console keeps the last hundred, until it ends',
      );
    return send(request, reply, jobPage(job));
  });
}
