/** How a route answers with a page. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { PageContent } from './page.js';

/** Sends a page in the console's frame; `status` is 200 by default. */
export type SendPage = (request: FastifyRequest, reply: FastifyReply, content: PageContent, status?: number) => unknown;
