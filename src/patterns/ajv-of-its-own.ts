/** Creates an ajv instance for one schema, since one instance would refuse a second schema with the same `$id`. */
import type { Ajv, AnySchemaObject, Options } from 'ajv';
import { addExactMultipleOf } from './ajv-multiple-of.js';
import { addBoundedFormats, PATTERNS } from './ajv-patterns.js';

type Dialect = new (options: Options) => Ajv;

/** Not strict: the platform may know keywords that ajv does not. */
const OPTIONS: Options = { strict: false, allErrors: true, logger: false, code: { regExp: PATTERNS } };

/** By dialect and options, instances that compile a metaschema once: that takes longer than compiling most schemas. */
const checkers = new Map<Dialect, Map<string, Ajv>>();

/** Throws what ajv throws if the schema does not match the metaschema that it names, or that of its dialect. */
export function ajvOfItsOwn(
  schema: AnySchemaObject,
  dialect: Dialect,
  more: Pick<Options, 'validateFormats'> = {},
): Ajv {
  void checkerOf(dialect, more).validateSchema(schema, true);
  return create(dialect, { ...more, validateSchema: false });
}

function checkerOf(dialect: Dialect, more: Options): Ajv {
  const ofDialect = checkers.get(dialect) ?? new Map<string, Ajv>();
  checkers.set(dialect, ofDialect);
  const key = JSON.stringify(more);
  const checker = ofDialect.get(key) ?? create(dialect, more);
  ofDialect.set(key, checker);
  return checker;
}

function create(dialect: Dialect, more: Options): Ajv {
  const ajv = new dialect({ ...OPTIONS, ...more });
  addBoundedFormats(ajv);
  addExactMultipleOf(ajv);
  return ajv;
}
