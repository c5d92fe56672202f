/** Bad responses: what a platform, or whatever stands in its place, may send instead of an answer. */
import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { answer, type Answer } from '../stub-platform.js';

/** A response by what it is, given the text of a valid one to the same request. */
export type BadResponse = (valid: string) => Answer;
export type Corpus = Readonly<Record<string, BadResponse>>;

/** Answers 200 with this body; `change` makes it from that of a valid response. */
const body =
  (change: string | Uint8Array | ((valid: string) => string | Uint8Array), headers = {}, status = 200): BadResponse =>
  (valid) =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(typeof change === 'function' ? change(valid) : change);
  };

/** Writes this to the connection instead of a response by HTTP, and closes it. */
const raw =
  (text: string | ((valid: string) => string)): BadResponse =>
  (valid) =>
  ({ socket }) =>
    (socket as Socket).end(typeof text === 'function' ? text(valid) : text);

const half = (text: string): string => text.slice(0, text.length / 2);
const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
const utf16 = (text: string): Buffer => Buffer.from(`\uFEFF${text}`, 'utf16le');

/** No complete response: `platform_unreachable`. */
export const INCOMPLETE: Corpus = {
  'a connection that is closed at once': () => (response) => response.destroy(),
  'a connection that is reset': () => (response) => (response.socket as Socket).resetAndDestroy(),
  'nothing at all': () => () => undefined,
  'a head without a body': () => (response) => {
    response.writeHead(200, { 'content-length': '100' });
    response.flushHeaders();
  },
  'a body that is shorter than it says': (valid) => (response) => {
    response.writeHead(200, { 'content-length': String(valid.length) });
    response.write(half(valid), () => response.destroy());
  },
  'a last part that never comes': (valid) => (response) => {
    response.writeHead(200);
    response.write(valid);
  },
  'a part that is cut': (valid) => (response) => {
    response.writeHead(200);
    response.write(half(valid), () => response.destroy());
  },
  'a byte now and then': () => (response) => {
    response.writeHead(200);
    const timer = setInterval(() => response.write(' '), 20);
    response.on('close', () => clearInterval(timer));
  },
  'text that is no HTTP': raw('hello\r\n\r\n'),
  'the protocol of a mail server': raw('220 mail.example.com ESMTP\r\n'),
  'a head of TLS': raw('\u0016\u0003\u0001\u0002\u0000'),
  'a status without a number': raw('HTTP/1.1 OK\r\n\r\n'),
  'a header with U+0000': raw('HTTP/1.1 200 OK\r\nx: a\u0000b\r\n\r\n{}'),
  'a header of 100,000 characters': raw(`HTTP/1.1 200 OK\r\nx: ${'a'.repeat(100_000)}\r\n\r\n{}`),
  'ten thousand headers': raw(`HTTP/1.1 200 OK\r\n${'x-a: b\r\n'.repeat(10_000)}\r\n{}`),
  'two lengths': raw('HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{} '),
  'a negative length': raw('HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n{}'),
  'a length that is no number': raw('HTTP/1.1 200 OK\r\ncontent-length: two\r\n\r\n{}'),
  'parts whose length is no number': raw('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nxyz\r\n{}\r\n0\r\n\r\n'),
  'a change of protocol': raw('HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n'),
  'only a promise to go on': raw('HTTP/1.1 100 Continue\r\n\r\n'),
};

/** A complete response of success that is no object of JSON: `platform_response_invalid`, which says what it is. */
export const NOT_JSON: Readonly<Record<string, readonly [BadResponse, string]>> = {
  'an empty body': [body(''), '200 with an empty body'],
  'a status without a body': [() => answer(204, ''), '204 with an empty body'],
  blanks: [body(' \n\t '), '200 with an empty body'],
  'a page': [body('<!doctype html><title>Log in', { 'content-type': 'text/html' }), '200 with HTML (text/html, 28 cha'],
  'a page that calls itself JSON': [body('\n <html>'), '200 with HTML (application/json'],
  XML: [body('<?xml version="1.0"?><a/>', { 'content-type': 'text/xml' }), '200 with HTML (text/xml'],
  'a word': [body('OK', { 'content-type': 'text/plain' }), '200 with text that is not JSON (text/plain'],
  'no content type': [body('OK', { 'content-type': '' }), '200 with text that is not JSON (no content type'],
  null: [body('null'), '200 with JSON that is not an object'],
  true: [body('true'), '200 with JSON that is not an object'],
  'a number': [body('42'), '200 with JSON that is not an object'],
  'a text': [body('"batch"'), '200 with JSON that is not an object'],
  'a list': [body('[]'), '200 with JSON that is not an object'],
  'the answer in a list': [body((valid) => `[${valid}]`), '200 with JSON that is not an object'],
  'the answer in a text': [body((valid) => JSON.stringify(valid)), '200 with JSON that is not an object'],
  'a list in lists, 100,000 deep': [body(nested(100_000)), '200 with JSON that is not an object'],
  'half of the answer': [body(half), '200 with JSON that is cut off or malformed'],
  'the answer without its last character': [body((valid) => valid.slice(0, -1)), 'cut off or malformed'],
  'the answer twice': [body((valid) => valid + valid), 'cut off or malformed'],
  'something after the answer': [body((valid) => `${valid};`), 'cut off or malformed'],
  'a byte order mark': [body((valid) => `\uFEFF${valid}`), 'cut off or malformed'],
  'a comma too many': [body((valid) => valid.replace(/\}$/, ',}')), 'cut off or malformed'],
  'single quotes': [body((valid) => valid.replaceAll('"', "'")), 'cut off or malformed'],
  'names without quotes': [body((valid) => valid.replaceAll(/"(\w+)":/g, '$1:')), 'cut off or malformed'],
  'a comment': [body((valid) => valid.replace('{', '{ /* of mine */')), 'cut off or malformed'],
  NaN: [body((valid) => valid.replace(/:true/, ':NaN')), 'cut off or malformed'],
  'U+0000 in a text': [body((valid) => valid.replace(':{"', ':{"\u0000')), 'cut off or malformed'],
  'U+0000 at the end': [body((valid) => `${valid}\u0000`), 'cut off or malformed'],
  'a call of JavaScript': [body((valid) => `callback(${valid})`), 'text that is not JSON'],
  'a guard against scripts': [body((valid) => `)]}',\n${valid}`), 'text that is not JSON'],
  'UTF-16': [body((valid) => utf16(valid)), 'text that is not JSON'],
  'bytes that are compressed': [body((v) => gzipSync(v), { 'content-encoding': 'gzip' }), 'text that is not JSON'],
  'the events of a stream': [body((valid) => `data: ${valid}\n\n`), 'text that is not JSON'],
  'more than is read': [body((valid) => valid.padEnd(300_000)), 'returned more than 250000 bytes'],
  'more compressed bytes than are read': [
    body(Buffer.alloc(300_000, 0x1f), { 'content-encoding': 'gzip' }),
    'returned more than 250000 bytes',
  ],
  'a body without an end': [
    () => (response) => {
      response.writeHead(200);
      const more = (): void => void (response.destroyed || response.write('x'.repeat(10_000), () => more()));
      more();
    },
    'returned more than 250000 bytes',
  ],
};

/** An object that is not the answer; `{}` and the like, whatever was asked. */
export const NOT_THE_ENVELOPE: Readonly<Record<string, readonly [BadResponse, string]>> = {
  'an empty object': [body('{}'), 'data must be object'],
  'only success': [body('{"success":true}'), 'data must be object'],
  'no data': [body('{"success":true,"data":null}'), 'data must be object'],
  'data that is a text': [body('{"success":true,"data":"done"}'), 'data must be object'],
  'data that is a number': [body('{"success":true,"data":1}'), 'data must be object'],
  'data that is a list': [body('{"success":true,"data":[{}]}'), 'data must be object'],
  'data that is empty': [body('{"success":true,"data":{}}'), 'must have required property'],
  'data in data': [body((v) => v.replace('"data":', '"data":{"data":').concat('}')), 'must have required property'],
  'data without its envelope': [body((v) => JSON.stringify((JSON.parse(v) as { data: object }).data)), 'data must be'],
  'data in the prototype': [body((v) => v.replace('"data":', '"__proto__":')), 'data must be object'],
  'data that comes a second time, empty': [body((v) => v.replace(/\}$/, ',"data":{}}')), 'must have required property'],
  'data that is as deep as it is long': [body(`{"success":true,"data":${nested(100_000)}}`), 'data must be object'],
  'success in words': [body((v) => v.replace('"success":true', '"success":"false"')), 'success must be boolean'],
  'success as a number': [body((v) => v.replace('"success":true', '"success":0')), 'success must be boolean'],
  'success that is null': [body((v) => v.replace('"success":true', '"success":null')), 'success must be boolean'],
};

const refusal = JSON.stringify({ success: false, message: 'no' });

/** Responses that are no success, by what is thrown. `doubt`: whether an upload may have been taken. */
export const FAILURES: Readonly<Record<string, readonly [BadResponse, code: string, says: string, doubt: boolean]>> = {
  'a refusal with the status of success': [body(refusal), 'platform_refused', 'returned 200', false],
  'a page with status 400': [body('<html>', {}, 400), 'platform_refused', 'returned 400', false],
  'half a refusal': [body(half(refusal), {}, 400), 'platform_refused', 'returned 400', false],
  'the answer with status 400': [body((valid) => valid, {}, 400), 'platform_refused', 'returned 400', false],
  'the answer with status 409': [body((valid) => valid, {}, 409), 'platform_refused', 'returned 409', false],
  'a status that nobody knows, 499': [body('', {}, 499), 'platform_refused', 'returned 499', false],
  'a page that asks for a login, 401': [body('<html>', {}, 401), 'platform_unauthorized', 'returned 401', false],
  'a page of a firewall, 403': [body('<html>', {}, 403), 'platform_unauthorized', 'returned 403', false],
  'a proxy that wants a password, 407': [body('', {}, 407), 'platform_response_invalid', 'returned 407', true],
  'a network that wants a login, 511': [body('<html>', {}, 511), 'platform_response_invalid', 'returned 511', true],
  'a message that is a list': [
    body('{"message":["a"],"errors":"b"}', {}, 500),
    'platform_failed',
    'returned 500',
    true,
  ],
  'a message that is an object': [body('{"message":{"a":1}}', {}, 500), 'platform_failed', 'returned 500', true],
  'errors that are no texts': [body('{"errors":[1,null,{}]}', {}, 500), 'platform_failed', 'returned 500', true],
  'data that is a list, in a failure': [body('{"data":["error"]}', {}, 500), 'platform_failed', 'returned 500', true],
  'an empty failure': [body('', {}, 500), 'platform_failed', 'returned 500', true],
  'the answer with status 500': [body((valid) => valid, {}, 500), 'platform_failed', 'returned 500', true],
  'the page of a balancer, 502': [body('<html>', {}, 502), 'platform_failed', 'returned 502', true],
  'the page of a balancer, 504': [body('<html>', {}, 504), 'platform_failed', 'returned 504', true],
  'a status that does not exist, 999': [
    raw('HTTP/1.1 999 No\r\ncontent-length: 0\r\n\r\n'),
    'platform_failed',
    'returned 999',
    true,
  ],
  'a page with status 503': [body('<html>', {}, 503), 'platform_busy', 'returned 503', false],
  'a time to wait that is negative': [body('{}', { 'retry-after': '-5' }, 503), 'platform_busy', 'returned 503', false],
  'a time to wait in words': [body('{}', { 'retry-after': 'soon' }, 429), 'platform_busy', 'returned 429', false],
  'a redirect to nowhere': [body('', {}, 302), 'redirect_refused', 'a redirect, which is never followed', true],
  'a redirect to a file': [body('', { location: 'file:///etc/passwd' }, 301), 'redirect_refused', 'a redirect', true],
  'a redirect to a script': [
    body('', { location: 'javascript:alert(1)' }, 303),
    'redirect_refused',
    'a redirect',
    true,
  ],
  'a redirect to what is no address': [
    body('', { location: 'http://[' }, 307),
    'redirect_refused',
    'a redirect',
    false,
  ],
  'a redirect with the answer': [body((v) => v, { location: '/' }, 308), 'redirect_refused', 'a redirect', false],
  'a choice of addresses': [body((valid) => valid, {}, 300), 'redirect_refused', 'returned 300', true],
  'a claim that nothing has changed': [() => answer(304, ''), 'redirect_refused', 'returned 304', true],
};

type Json = Record<string, unknown>;

/** The answer with these fields of its data replaced; those that are undefined are left out. */
const data = (fields: Json): BadResponse =>
  body((valid) => {
    const answer = JSON.parse(valid) as { data: Json };
    return JSON.stringify({ ...answer, data: { ...answer.data, ...fields } });
  });
/** The same with these counters. */
const progress = (counters: Json): BadResponse =>
  body((valid) => {
    const answer = JSON.parse(valid) as { data: { progress: Json } };
    return JSON.stringify({
      ...answer,
      data: { ...answer.data, progress: { ...answer.data.progress, ...counters } },
    });
  });
/** The answer with this written where its accepted records are counted, as it stands. */
const accepted = (text: string): BadResponse =>
  body((valid) => valid.replace(/("successfulRecords":)\d+/, `$1${text}`));

const LONE = '\uD800';

/** Statuses of a batch that are invalid; the platform says that all records are accepted, if one overlooks that. */
export const BAD_STATUSES: Readonly<Record<string, readonly [BadResponse, string]>> = {
  'another batch': [data({ batchId: 'another' }), 'data.batchId is not the batchId that was asked for'],
  'the batch in capitals': [body((valid) => valid.replace('"b1"', '"B1"')), 'data.batchId is not the batchId'],
  'the batch and a blank': [body((valid) => valid.replace('"b1"', '"b1 "')), 'data.batchId is not the batchId'],
  'the batch and U+0000': [body((valid) => valid.replace('"b1"', '"b1\\u0000"')), 'data.batchId is not the batchId'],
  'the batch in bytes that are no text': [
    body((valid) => Buffer.from(valid.replace('"b1"', '"b1\u00ff"'), 'latin1')),
    'data.batchId is not the batchId',
  ],
  'the batch and half a character': [data({ batchId: `b1${LONE}` }), 'data.batchId is not the batchId'],
  'a batch whose id is 15,000 characters': [data({ batchId: 'b'.repeat(15_000) }), 'data.batchId is not the batchId'],
  'the batch, and then another': [
    body((valid) => valid.replace('"b1"', '"b1","batchId":"b2"')),
    'data.batchId is not the batchId',
  ],
  'no batch': [data({ batchId: undefined }), "data must have required property 'batchId'"],
  'a batch that is null': [data({ batchId: null }), 'data.batchId must be string'],
  'a batch that is a number': [data({ batchId: 1 }), 'data.batchId must be string'],
  'a batch that is an object': [data({ batchId: { id: 'b1' } }), 'data.batchId must be string'],
  'a batch that is a list': [data({ batchId: ['b1'] }), 'data.batchId must be string'],
  'progress in words': [data({ progress: 'complete' }), 'data.progress must be object'],
  'progress in percent': [data({ progress: 100 }), 'data.progress must be object'],
  'progress that is a list': [data({ progress: [1, 1, 1, 0, 0] }), 'data.progress must be object'],
  'a count in words': [progress({ successfulRecords: '1' }), 'data.progress.successfulRecords must be integer'],
  'a count that is true': [progress({ successfulRecords: true }), 'data.progress.successfulRecords must be integer'],
  'a count that is a list': [progress({ successfulRecords: [1] }), 'data.progress.successfulRecords must be integer'],
  'a negative count of failed records': [progress({ failedRecords: -1 }), 'data.progress.failedRecords must be >= 0'],
  'negative counts that add up': [
    progress({ successfulRecords: 2, failedRecords: -1 }),
    'data.progress.failedRecords must be >= 0',
  ],
  'negative pending records that add up': [
    progress({ successfulRecords: 2, pendingRecords: -1 }),
    'data.progress.pendingRecords must be >= 0',
  ],
  'half a record': [progress({ successfulRecords: 0.5, failedRecords: 0.5 }), 'must be integer'],
  'almost a record': [accepted('0.9999999999999999'), 'data.progress.successfulRecords must be integer'],
  'more records than there are numbers': [accepted('1e400'), 'data.progress.successfulRecords must be integer'],
  'fewer than none': [accepted('-1e400'), 'data.progress.successfulRecords must be'],
  'the total of another batch, in words': [progress({ totalRecords: 'one' }), 'totalRecords must be integer'],
  'a time of completion that is a number': [data({ completedAt: 1_700_000_000 }), 'data.completedAt must be string'],
  'a time of completion that is true': [data({ completedAt: true }), 'data.completedAt must be string'],
  'errors that are a text': [data({ errors: 'none' }), 'data.errors must be object'],
  'errors of records that are one text': [data({ errors: { recordErrors: 'none' } }), 'recordErrors must be array'],
  'errors of records that are objects': [data({ errors: { recordErrors: [{}] } }), 'recordErrors.0 must be string'],
  'errors of records that are null': [data({ errors: { recordErrors: [null] } }), 'recordErrors.0 must be string'],
  'pending records that are an object': [data({ pendingResources: {} }), 'data.pendingResources must be array'],
  'pending records that are texts': [data({ pendingResources: ['a'] }), 'data.pendingResources.0 must be object'],
  'a pending record without an id': [data({ pendingResources: [{}] }), "required property 'resourceExternalId'"],
  'a pending record whose id is a number': [
    data({ pendingResources: [{ resourceExternalId: 1 }] }),
    'resourceExternalId must be string',
  ],
  'missing parents that are texts': [
    data({ pendingResources: [{ resourceExternalId: 'a', missingDependencies: ['b'] }] }),
    'missingDependencies.0 must be object',
  ],
  'a time of expiry that is a number': [
    data({ pendingResources: [{ resourceExternalId: 'a', expiresAt: 1 }] }),
    'expiresAt must be string',
  ],
};

/** Statuses that are valid, but do not prove that the one record of the batch is accepted. */
export const UNPROVEN: Corpus = {
  'no progress': data({ progress: undefined }),
  'progress that is null': data({ progress: null }),
  'progress that is empty': data({ progress: {} }),
  'progress in the prototype': body((valid) => valid.replace('"progress":', '"__proto__":')),
  'no count of accepted records': progress({ successfulRecords: undefined }),
  'a count of accepted records that is null': progress({ successfulRecords: null }),
  'none counted, but complete': progress({ totalRecords: 0, processedRecords: 0, successfulRecords: 0 }),
  'more accepted than were sent': progress({ successfulRecords: 2 }),
  'accepted and failed': progress({ failedRecords: 1 }),
  'accepted and pending': progress({ pendingRecords: 1 }),
  'accepted, but listed as failed': data({ errors: { recordErrors: ['externalId "a": too long'] } }),
  'accepted, but a failure listed that names nobody': data({ errors: { recordErrors: ['too long'] } }),
  'accepted, but a failure listed that names another record': data({ errors: { recordErrors: ['"z" is too long'] } }),
  'accepted, but listed as pending': data({ pendingResources: [{ resourceExternalId: 'a' }] }),
  'accepted, but another record listed as pending': data({ pendingResources: [{ resourceExternalId: 'z' }] }),
  'the same record listed as pending twice': data({
    pendingResources: [{ resourceExternalId: 'a' }, { resourceExternalId: 'a' }],
  }),
  'a count that comes a second time': accepted('1,"successfulRecords":0'),
  'an astronomic number of records': accepted('1e300'),
  'pending until a time that is none': data({ pendingResources: [{ resourceExternalId: 'a', expiresAt: 'soon' }] }),
  'pending until the end of time': data({ pendingResources: [{ resourceExternalId: 'a', expiresAt: 'infinity' }] }),
  'pending until a time with U+0000': data({ pendingResources: [{ resourceExternalId: 'a', expiresAt: '\0' }] }),
  'pending until 15,000 characters': data({
    pendingResources: [{ resourceExternalId: 'a', expiresAt: '9'.repeat(15_000) }],
  }),
  'pending for parents that nobody can store': data({
    pendingResources: [
      {
        resourceExternalId: 'a',
        missingDependencies: ['\0', LONE, '__proto__', 'p'.repeat(5_000)].map((externalId) => ({
          externalId,
          schemaName: externalId,
        })),
      },
    ],
  }),
};

/** Statuses that prove that the one record of the batch is accepted, although the document shows more in them. */
export const TERSE: Corpus = {
  'no count of failed records': progress({ failedRecords: undefined }),
  'no count of pending records': progress({ pendingRecords: undefined }),
  'counts that are null': progress({ failedRecords: null, pendingRecords: null }),
  'no total': progress({ totalRecords: undefined, processedRecords: undefined }),
};

/** Answers to an upload that are invalid. */
export const BAD_ACCEPTANCES: Readonly<Record<string, readonly [BadResponse, string]>> = {
  'no batch': [data({ batchId: undefined }), "data must have required property 'batchId'"],
  'a batch that is null': [data({ batchId: null }), 'data.batchId must be string'],
  'a batch that is a number': [data({ batchId: 7 }), 'data.batchId must be string'],
  'a batch that is an object': [data({ batchId: {} }), 'data.batchId must be string'],
  'an empty batch': [data({ batchId: '' }), 'data.batchId must NOT have fewer than 1 characters'],
  'a number of records in words': [data({ recordCount: '1' }), 'data.recordCount must be integer'],
  'a negative number of records': [data({ recordCount: -1 }), 'data.recordCount must be >= 0'],
  'one and a half records': [data({ recordCount: 1.5 }), 'data.recordCount must be integer'],
  'more records than there are numbers': [
    body((valid) => valid.replace('"recordCount":1', '"recordCount":1e400')),
    'data.recordCount must be integer',
  ],
  'a message that is an object': [data({ message: {} }), 'data.message must be string'],
};

/** Answers to an upload with an id by which nobody can ask for the batch. */
export const UNASKABLE: Corpus = {
  'the folder above': data({ batchId: '..' }),
  'this folder': data({ batchId: '.' }),
  'U+0000': data({ batchId: 'b\0' }),
  'half a character': data({ batchId: LONE }),
  '15,000 characters': data({ batchId: 'b'.repeat(15_000) }),
};

/** Answers about a resource that are invalid. */
export const BAD_RESOURCES: Readonly<Record<string, readonly [BadResponse, string]>> = {
  'another resource': [data({ result: { resourceExternalId: 'z', data: {} } }), 'is not the externalId that was asked'],
  'the resource in capitals': [data({ result: { resourceExternalId: 'A', data: {} } }), 'is not the externalId'],
  'the old name for another one': [data({ result: { resource_external_id: 'z', data: {} } }), 'is not the externalId'],
  'a resource whose id is a number': [data({ result: { resourceExternalId: 1, data: {} } }), 'must be string'],
  'a resource without an id': [data({ result: { data: {} } }), "required property 'resourceExternalId'"],
  'a resource without data': [data({ result: { resourceExternalId: 'a' } }), "must have required property 'data'"],
  'a resource whose data is null': [data({ result: { resourceExternalId: 'a', data: null } }), 'must be object'],
  'a resource whose data is a list': [data({ result: { resourceExternalId: 'a', data: [] } }), 'must be object'],
  'no resource': [data({ result: null }), 'data.result must be object'],
  'several resources': [data({ result: [{ resourceExternalId: 'a', data: {} }] }), 'data.result must be object'],
};
