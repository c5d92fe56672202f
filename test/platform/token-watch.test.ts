/** Which of the platform's responses end the wait for another token. */
import { expect, it } from 'vitest';
import { operations } from '../../src/platform/contract/operations.js';
import { platformError } from '../../src/platform/error.js';
import { DEFAULT_PLATFORM_SETTINGS } from '../../src/platform/client-settings.js';
import { watchToken } from '../../src/platform/token-watch.js';

it('waits on if the token before the rejected one is accepted late, and continues once a newer one is', () => {
  const warnings: string[] = [];
  const watch = watchToken({
    ...DEFAULT_PLATFORM_SETTINGS,
    baseUrl: 'https://platform.test',
    token: () => Promise.resolve('new'),
    tokenWait: 60_000,
    warn: (message) => warnings.push(message),
  });
  const sentAt = performance.now() - 1;
  watch.rejected('new', platformError('platform_unauthorized', operations.getBatch, 'was rejected with 401'));
  watch.accepted(sentAt);
  expect(warnings).toEqual([expect.stringContaining('waiting for another token')]);
  watch.accepted(performance.now() + 1);
  expect(warnings.at(-1)).toBe('the platform accepts the token again; continuing');
});
