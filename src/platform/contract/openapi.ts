/** The contract as an OpenAPI 3.1 document. */
import type { TSchema } from 'typebox';
import { AlternativeFailure, Failure, headersOf, successOf } from './envelope.js';
import type { Operation, ParameterNames } from './operation.js';
import { operationEntries, type OperationName } from './operations.js';
import {
  COMMON_REFUSALS,
  refusalStatus,
  successStatus,
  type RefusalKind,
  type Refusals,
  type Statuses,
} from './refusals.js';
import type { AliasTable } from './aliases.js';

/** What platform-api.md leaves open and a server has to choose. */
export interface OpenApiChoices {
  readonly authHeader: string;
  /** The word before the token; empty for the token alone. */
  readonly authScheme: string;
  readonly parameterNames: ParameterNames;
  readonly statuses: Statuses;
}

type Json = Readonly<Record<string, unknown>>;

/** The document that the sandbox serves, for a server that has made these choices. */
export function openApiDocument(choices: OpenApiChoices): Json {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const [name, operation] of operationEntries)
    (paths[operation.path] ??= {})[operation.method.toLowerCase()] = operationOf(name, operation, choices);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Messaging platform: partner and tenant interface',
      // Section 9.1.
      version: '1.0.0',
      description:
        'Operations under `/api/` act for one tenant: a platform token names it in the header `service-tenant-id`, a tenant token is its own. Operations under `/partner/` need a platform token.',
    },
    tags: [...new Set(operationEntries.map(([, { tag }]) => tag))].map((name) => ({ name })),
    paths,
    components: {
      schemas: { Failure: plain(Failure), AlternativeFailure: plain(AlternativeFailure) },
      securitySchemes: { token: securityScheme(choices) },
    },
  };
}

function operationOf(name: OperationName, operation: Operation, { parameterNames, statuses }: OpenApiChoices): Json {
  const { section, tag, summary, description, params, query, body, scope } = operation;
  return {
    operationId: name,
    tags: [tag],
    summary,
    description: [description, `Section ${section}.`].filter(Boolean).join(' '),
    security: scope === 'open' ? [] : [{ token: [] }],
    parameters: [
      ...parametersOf('path', params),
      ...parametersOf('query', query, { ...parameterNames }),
      ...parametersOf('header', headersOf(operation)),
    ],
    ...(body === null ? {} : { requestBody: { required: true, content: json(plain(body)) } }),
    responses: {
      [successStatus(operation, statuses)]: { description: 'Done.', content: json(plain(successOf(operation))) },
      ...refusalsOf(operation, statuses),
    },
  };
}

function parametersOf(
  place: 'path' | 'query' | 'header',
  fields: Operation['params'],
  names: Readonly<Record<string, string>> = {},
): Json[] {
  const required: readonly string[] = fields.required ?? [];
  return Object.entries(fields.properties as Record<string, TSchema>).map(([name, schema]) => {
    const { description, ...rest } = plain(schema);
    return {
      name: names[name] ?? name,
      in: place,
      required: required.includes(name),
      ...(description === undefined ? {} : { description }),
      schema: rest,
    };
  });
}

function refusalsOf(operation: Operation, statuses: Statuses): Json {
  const { scope, refusals, alternativeErrors } = operation;
  const common: Refusals = scope === 'open' ? { invalid: COMMON_REFUSALS.invalid } : COMMON_REFUSALS;
  const reference = (name: string) => ({ $ref: `#/components/schemas/${name}` });
  const schema = alternativeErrors
    ? { anyOf: [reference('Failure'), reference('AlternativeFailure')] }
    : reference('Failure');
  const described = new Map<number, string>();
  for (const [kind, words] of Object.entries({ ...common, ...refusals }) as [RefusalKind, string][]) {
    const status = refusalStatus(operation, kind, statuses);
    described.set(status, [described.get(status), words].filter(Boolean).join(' '));
  }
  return Object.fromEntries(
    [...described].map(([status, description]) => [status, { description, content: json(schema) }]),
  );
}

const json = (schema: Json): Json => ({ 'application/json': { schema } });

function securityScheme({ authHeader, authScheme }: OpenApiChoices): Json {
  const standard = authHeader.toLowerCase() === 'authorization' && authScheme.toLowerCase() === 'bearer';
  return standard
    ? { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' }
    : {
        type: 'apiKey',
        in: 'header',
        name: authHeader,
        description: authScheme === '' ? 'the token alone' : `\`${authScheme}\`, a blank, the token`,
      };
}

/** A schema of the contract as JSON Schema alone, with both names of each field that has an alias. */
function plain(schema: TSchema): Json {
  const { aliases } = schema as Json & { readonly aliases?: AliasTable };
  const keywords = Object.entries(schema).filter(([key]) => key !== 'aliases' && key !== 'form');
  const copy = Object.fromEntries(keywords.map(([key, value]) => [key, plainValue(value)]));
  if (aliases === undefined) return copy;
  const properties = copy['properties'] as Record<string, Json>;
  const older = Object.entries(aliases).flatMap(([camel, snake]) =>
    properties[camel] === undefined ? [] : [[snake, { ...properties[camel], description: `same as ${camel}` }]],
  );
  return { ...copy, properties: { ...properties, ...Object.fromEntries(older) } };
}

function plainValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plainValue);
  return typeof value === 'object' && value !== null ? plain(value) : value;
}
