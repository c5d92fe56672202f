/** Every transport failure that the platform, or the network on the way to it, can have. */
import type { Fault, PassedRequest, StubAnswer } from './platform-proxy.js';

/** A response in JSON that reports a failure. */
export const json = (status: number, message: string, headers = {}): StubAnswer => ({
  status,
  headers,
  body: JSON.stringify({ success: false, message }),
});
const html = (status: number): StubAnswer => ({
  status,
  headers: { 'content-type': 'text/html' },
  body: '<html><h1>Welcome</h1></html>',
});
const inASecond = (): string => new Date(Date.now() + 1500).toUTCString();

/** What can go wrong with an upload. */
export const UPLOADS: Readonly<Record<string, () => Fault>> = {
  'answers lost after the batch was taken': () => ({ forward: true, answer: 'cut' }),
  'connections reset before the batch was taken': () => ({ forward: false, answer: 'cut' }),
  'answers that never come, the batch taken': () => ({ forward: true, answer: 'hang' }),
  'answers that never come, the batch not taken': () => ({ forward: false, answer: 'hang' }),
  'slow answers': () => ({ forward: true, answer: 'pass', after: 300 }),
  '408': () => ({ forward: false, answer: json(408, 'timeout') }),
  '425': () => ({ forward: false, answer: json(425, 'too early') }),
  '429 with Retry-After in seconds': () => ({ forward: false, answer: json(429, 'slow', { 'retry-after': '1' }) }),
  '429 with Retry-After as a date': () => ({
    forward: false,
    answer: json(429, 'slow', { 'retry-after': inASecond() }),
  }),
  '500 without having taken the batch': () => ({ forward: false, answer: json(500, 'oops') }),
  '500 although the batch was taken': () => ({ forward: true, answer: json(500, 'oops') }),
  '502 as a page of HTML': () => ({ forward: false, answer: html(502) }),
  '503': () => ({ forward: false, answer: json(503, 'busy') }),
  '504 although the batch was taken': () => ({ forward: true, answer: html(504) }),
  '200 as a page of HTML': () => ({ forward: true, answer: html(200) }),
  'JSON that ends in the middle': () => ({
    forward: true,
    answer: { status: 202, body: '{"success":true,"data":{"batchId":"' },
  }),
};

/** What can go wrong with looking after a batch. */
export const LOOKS: Readonly<Record<string, () => Fault>> = {
  'looks that are answered with 404': () => ({ forward: false, answer: json(404, 'no such batch') }),
  'looks that fail with 500': () => ({ forward: false, answer: json(500, 'oops') }),
  'looks that are cut': () => ({ forward: false, answer: 'cut' }),
  'looks that come as HTML': () => ({ forward: false, answer: html(200) }),
  'counters that do not add up': () => ({
    forward: true,
    answer: (own) => ({ ...own, body: own.body.replace(/"successfulRecords":\d+/, '"successfulRecords":1') }),
  }),
};

export const isLook = ({ path }: PassedRequest): boolean => path.startsWith('/api/batches/');

/** Whether a fault, by its name, is about this kind of request. */
export const concerns = (what: string, request: PassedRequest): boolean =>
  what in LOOKS ? isLook(request) : request.upload;
