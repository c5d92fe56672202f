/** A whole HTML document: what the report file and the pages of the console have in common. */
import type { ComponentChildren, VNode } from 'preact';
import { renderToStaticMarkup } from 'preact-render-to-string';

interface Content {
  readonly title: string;
  /** Elements for the head, such as the stylesheet. */
  readonly head?: ComponentChildren;
  readonly bodyClass?: string;
  readonly children: ComponentChildren;
}

export const HtmlDocument = ({ title, head, bodyClass = '', children }: Content) => (
  <html lang="en">
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      <title>{title}</title>
      {head}
    </head>
    <body class={bodyClass}>{children}</body>
  </html>
);

/** The text of the document. Preact escapes every text and attribute; nothing else puts values into HTML. */
export const renderDocument = (document: VNode): string => `<!doctype html>\n${renderToStaticMarkup(document)}\n`;
