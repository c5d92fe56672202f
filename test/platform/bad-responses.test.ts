/** Whatever comes instead of an answer has an error of its own, which says what came; and an upload is left in doubt. */
import { describe, expect, it } from 'vitest';
import type { PlatformClient } from '../../src/platform/client.js';
import { isInDoubt } from '../../src/platform/error.js';
import {
  BAD_ACCEPTANCES,
  BAD_RESOURCES,
  BAD_STATUSES,
  FAILURES,
  INCOMPLETE,
  NOT_JSON,
  NOT_THE_ENVELOPE,
  type BadResponse,
} from './corpus/bad-responses.js';
import { BATCH, errorOf, stubPlatform } from './stub-platform.js';

const NORTH = { tenant: 'north' };
const valid = (data: object): string => JSON.stringify({ success: true, data });

/** Requests, each with a valid answer to it. */
const REQUESTS = {
  'the status of a batch': [valid(BATCH), (client: PlatformClient) => client.findBatch('b1', NORTH)],
  'an upload': [
    valid({ batchId: 'b1', recordCount: 1 }),
    (client: PlatformClient) => client.uploadResources('customer', '{"resources":[]}', {}, { ...NORTH, once: true }),
  ],
  'a resource': [
    valid({ result: { resourceExternalId: 'a', data: {} } }),
    (client: PlatformClient) => client.findResource('customer', 'a', NORTH),
  ],
} as const;
type Request = keyof typeof REQUESTS;

async function errorFor(request: Request, response: BadResponse) {
  const [answer, send] = REQUESTS[request];
  // Milliseconds, few where the answer never comes.
  const requestTimeout = Object.values(INCOMPLETE).includes(response) ? 150 : 60_000;
  const limits = { requestTimeout, retryBudget: 0, maxResponseBytes: 250_000 };
  const { client } = await stubPlatform([response(answer)], limits);
  return errorOf(send(client));
}

/** Expects this error of each request. */
async function expectError(
  requests: readonly Request[],
  response: BadResponse,
  code: string,
  says: string,
  doubt = true,
) {
  for (const request of requests) {
    const error = await errorFor(request, response);
    expect({ request, code: error.code }).toEqual({ request, code });
    expect(error.message).toContain(says);
    expect(error.message.length).toBeLessThan(600);
    expect(error.message).not.toMatch(/\p{Cc}/u);
    // Only the upload may have had an effect.
    if (request === 'an upload') expect(isInDoubt(error)).toBe(doubt);
  }
}

const ALL = Object.keys(REQUESTS) as Request[];

describe('an incomplete response: the platform is unreachable', () => {
  it.each(Object.entries(INCOMPLETE))('%s', async (_, response) => {
    await expectError(ALL, response, 'platform_unreachable', 'failed: ');
  });
});

describe('a response that is no object of JSON is invalid', () => {
  it.each(Object.entries(NOT_JSON))('%s', async (_, [response, says]) => {
    await expectError(ALL, response, 'platform_response_invalid', says);
  });
});

describe('an object that is no answer is invalid', () => {
  it.each(Object.entries(NOT_THE_ENVELOPE))('%s', async (_, [response, says]) => {
    await expectError(ALL, response, 'platform_response_invalid', says);
  });
});

describe('a failure has its own error, whatever its body', () => {
  it.each(Object.entries(FAILURES))('%s', async (_, [response, code, says, doubt]) => {
    await expectError(ALL, response, code, says, doubt);
  });
});

describe('the status of a batch is invalid', () => {
  it.each(Object.entries(BAD_STATUSES))('%s', async (_, [response, says]) => {
    await expectError(['the status of a batch'], response, 'platform_response_invalid', says);
  });
});

describe('the answer to an upload is invalid', () => {
  it.each(Object.entries(BAD_ACCEPTANCES))('%s', async (_, [response, says]) => {
    await expectError(['an upload'], response, 'platform_response_invalid', says);
  });
});

describe('a resource is invalid', () => {
  it.each(Object.entries(BAD_RESOURCES))('%s', async (_, [response, says]) => {
    await expectError(['a resource'], response, 'platform_response_invalid', says);
  });
});

describe('the answers from which the bad ones are made are good', () => {
  it.each(ALL)('%s', async (request) => {
    const [answer, send] = REQUESTS[request];
    const { client } = await stubPlatform([(response) => response.end(answer)]);
    expect(await send(client)).toMatchObject((JSON.parse(answer) as { data: object }).data);
  });
});
