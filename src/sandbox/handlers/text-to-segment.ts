/** 4.2: builds the conditions of a segment from a description in English. It stores nothing. */
import type { JsonObject } from '../../domain/json.js';
import { Refusal } from '../refusal.js';
import type { StoredSchema } from '../schema-store.js';
import type { Definition } from '../segments/record-paths.js';
import { textToSegment as interpret } from '../segments/text-to-segment.js';
import type { Handler } from './handler.js';

/** Section 4.2: the word for people where none is given. */
const DEFAULT_WORD = 'user';

export const textToSegment: Handler<'textToSegment'> = async ({ body }, { schemas, now, settings }) => {
  const { text, userCustomVerb = DEFAULT_WORD } = body;
  const data = interpret({ text, userCustomVerb }, (await schemas.list()).map(described), now(), settings);
  if (!data.success && settings.statuses.notUnderstood !== 200) throw new Refusal('notUnderstood', data.failureReason);
  return { data };
};

const described = ({ definition, name }: StoredSchema): Definition => ({
  name,
  pluralName: definition.pluralName ?? name,
  category: definition.category,
  schema: definition.schema as JsonObject,
  ...(definition.fieldsToExpose == null ? {} : { fieldsToExpose: definition.fieldsToExpose }),
});
