/** 4.2: builds the conditions of a segment from a description in English. It stores nothing. */
import type { JsonObject } from '../../domain/json.js';
import type { StoredSchema } from '../schema-store.js';
import type { Definition } from '../segments/record-paths.js';
import { textToSegment as interpret } from '../segments/text-to-segment.js';
import type { Handler } from './handler.js';

/** Section 4.2: the word for people where none is given. */
const DEFAULT_WORD = 'user';

export const textToSegment: Handler<'textToSegment'> = async ({ body }, { schemas, now }) => {
  const { text, userCustomVerb = DEFAULT_WORD } = body;
  return { data: interpret({ text, userCustomVerb }, (await schemas.list()).map(described), now()) };
};

const described = ({ definition, name }: StoredSchema): Definition => ({
  name,
  pluralName: definition.pluralName ?? name,
  category: definition.category,
  schema: definition.schema as JsonObject,
  ...(definition.fieldsToExpose == null ? {} : { fieldsToExpose: definition.fieldsToExpose }),
});
