import { expect, it } from 'vitest';
import { HtmlDocument, renderDocument } from '../../src/report/html-document.js';

it('escapes whatever names and messages a page contains', () => {
  const hostile = `</title><script>alert('1')</script>`;
  const html = renderDocument(
    <HtmlDocument title={hostile}>
      <p title={`"${hostile}`}>{hostile}</p>
    </HtmlDocument>,
  );
  expect(html.startsWith('<!doctype html>\n<html lang="en">')).toBe(true);
  expect(html).not.toContain('<script');
  expect(html.split('&lt;script>')).toHaveLength(4);
});
