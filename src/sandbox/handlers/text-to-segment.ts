/** 4.2: builds the conditions of a segment from a description in English. Nothing is stored. */
import { Refusal } from '../refusal.js';
import { interpretText } from '../segments/interpret-text.js';
import type { Handler } from './handler.js';

/** The word for people if the caller sends none (4.2). */
const DEFAULT_WORD = 'user';

/**
 * Section 4.2. A text that is not understood gets a response with `success: false`, or is refused if the setting
 * `statuses.notUnderstood` is an error status.
 */
export const textToSegment: Handler<'textToSegment'> = async ({ body }, { schemas, settings }) => {
  const { text, userCustomVerb = DEFAULT_WORD } = body;
  const definitions = (await schemas.list()).map(({ definition }) => definition);
  const data = interpretText({ text, userCustomVerb }, definitions, settings);
  if (!data.success && settings.statuses.notUnderstood !== 200) throw new Refusal('notUnderstood', data.failureReason);
  return { data };
};
