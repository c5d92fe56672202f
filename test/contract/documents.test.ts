/** What the sandbox serves for people and their tools: the OpenAPI document, and a page to try the operations on. */
import { Validator } from '@seriousme/openapi-schema-validator';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operationEntries } from '../../src/platform/contract/operations.js';
import { openBrowser } from '../browser.js';
import { isHere } from '../here.js';
import { createDatabase, startForTest, type TestDatabase } from '../sandbox/running-sandbox.js';

interface Document {
  readonly info: { readonly version: string };
  readonly paths: Record<string, Record<string, Described>>;
  readonly components: { readonly securitySchemes: { readonly token: object } };
}
interface Described {
  readonly operationId: string;
  readonly security: object[];
  readonly parameters: { readonly name: string; readonly in: string }[];
  readonly responses: Record<string, { readonly content: Record<string, { readonly schema: object }> }>;
}

let database: TestDatabase;
let sandbox: Awaited<ReturnType<typeof startForTest>>;
beforeAll(async () => {
  database = await createDatabase('documents');
  sandbox = await startForTest(database);
});
afterAll(async () => {
  await sandbox.close();
  await database.drop();
});

const documentOf = async (url: string) => (await (await fetch(`${url}/openapi.json`)).json()) as Document;

describe('/openapi.json', () => {
  it('is a valid OpenAPI document by its JSON Schema', async () => {
    const { valid, errors } = await new Validator().validate({ ...(await documentOf(sandbox.url)) });
    expect(errors).toBeUndefined();
    expect(valid).toBe(true);
  });

  it('describes every operation of the contract under its method and path', async () => {
    const { paths } = await documentOf(sandbox.url);
    const described = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { operationId }]) => [operationId, `${method.toUpperCase()} ${path}`]),
    );
    expect(described).toEqual(operationEntries.map(([name, { method, path }]) => [name, `${method} ${path}`]));
  });

  it('declares no security requirement for the usage operation, and one for every other', async () => {
    const { paths } = await documentOf(sandbox.url);
    const open = Object.values(paths)
      .flatMap((methods) => Object.values(methods))
      .filter(({ security }) => security.length === 0);
    expect(open.map(({ operationId }) => operationId)).toEqual(['listTenantUsage']);
  });

  it('shows both names of fields with an alias, and both error shapes if there are two', async () => {
    const { paths } = await documentOf(sandbox.url);
    const { responses } = paths['/api/resources/{schemaDefinitionNameOrId}/{externalId}']!['get']!;
    expect(responses['200']!.content['application/json']!.schema).toMatchObject({
      properties: { data: { properties: { result: { properties: { createdAt: {}, created_at: {} } } } } },
    });
    expect(responses['404']!.content['application/json']!.schema).toEqual({
      anyOf: [{ $ref: '#/components/schemas/Failure' }, { $ref: '#/components/schemas/AlternativeFailure' }],
    });
  });

  it('shows the parameter names and the header of the settings', async () => {
    const parameterNames = { include: 'expand', referenceFormat: 'refs', includePendingDetails: 'pending' };
    const other = await startForTest(database, { parameterNames, authHeader: 'x-api-token', authScheme: '' });
    const { paths, components } = await documentOf(other.url);
    await other.close();
    const names = (path: string) => paths[path]!['get']!.parameters.filter((p) => p.in === 'query').map((p) => p.name);
    expect(names('/api/resources/{schemaDefinitionNameOrId}/{externalId}')).toEqual(['expand', 'refs']);
    expect(names('/api/batches/{batchId}')).toEqual(['pending']);
    expect(components.securitySchemes.token).toMatchObject({ type: 'apiKey', name: 'x-api-token' });
  });
});

describe.skipIf(!isHere('Chromium'))('/reference', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser?.close());

  it('shows the operations and sends a request with a token, without loading anything from other servers', async () => {
    const page = await browser.newPage();
    const asked: string[] = [];
    const complaints: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
    await page.goto(`${sandbox.url}/reference`);

    await page.getByRole('button', { name: 'Authorize' }).first().click();
    await page.locator('.auth-container input').fill(sandbox.token);
    await page.locator('.auth-container').getByRole('button', { name: 'Apply credentials' }).click();
    await page.locator('.auth-container').getByRole('button', { name: 'Close' }).click();
    const operation = page.locator('#operations-Channels-listChannelIntegrations');
    await operation
      .getByRole('button', { name: /channel.integrations/i })
      .first()
      .click();
    await operation.getByRole('button', { name: 'Try it out' }).click();
    await operation.getByRole('button', { name: 'Execute' }).click();
    const response = operation.locator('.live-responses-table');
    await response.waitFor();
    expect(await response.locator('.response-col_status').last().innerText()).toBe('200');
    expect(await response.innerText()).toContain('"pagination"');

    expect(await page.locator('.opblock').count()).toBe(operationEntries.length);
    expect(asked.filter((url) => !url.startsWith(sandbox.url) && !url.startsWith('data:'))).toEqual([]);
    expect(complaints).toEqual([]);
  });
});
