/** Refusals of records: the platform's message may quote them, and the status differs. */
import { expect, it } from 'vitest';
import { isInDoubt, PlatformError } from '../../src/platform/error.js';
import { answer, errorOf, stubPlatform } from './stub-platform.js';

const MESSAGE = 'jo@example.org is not valid';

it.each([
  [200, 'platform_refused'],
  [202, 'platform_refused'],
  [400, 'platform_refused'],
  [409, 'platform_refused'],
  [413, 'platform_too_large'],
  [422, 'platform_refused'],
] as const)('is certain that nothing was accepted, and quotes no record, if the status is %i', async (status, code) => {
  const { client } = await stubPlatform([answer(status, { success: false, message: MESSAGE, errors: [MESSAGE] })]);

  const error = await errorOf(
    client.uploadResources('customer', '{"resources":[]}', {}, { tenant: 'north', once: true }),
  );

  expect(error).toMatchObject({ code, platformMessage: MESSAGE, errors: [MESSAGE] });
  expect(error).toBeInstanceOf(PlatformError);
  expect(isInDoubt(error)).toBe(false);
  expect(error.message).not.toContain(MESSAGE);
});
