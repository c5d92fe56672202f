/**
 * Draws a plot as the text of an SVG, with Observable Plot on a document that is no browser's: the same figures always give
 * the same text. There is no style in it, which the console's Content-Security-Policy would refuse: colours are custom
 * properties of the stylesheet.
 */
import type { PlotOptions } from '@observablehq/plot';
import type { Element } from '@xmldom/xmldom';
import { DOMImplementation, Plot, XMLSerializer } from './library.js';

const XHTML = 'http://www.w3.org/1999/xhtml';
const ELEMENT = 1;

export interface Drawing extends PlotOptions {
  /** What it shows, in a sentence, for those who do not see it. */
  readonly ariaLabel: string;
  /** Classes of the SVG; by default `plot`. */
  readonly classes?: string;
}

export const WIDTH = 720;
export const HEIGHT = 220;

export function draw({ classes = 'plot', ...options }: Drawing): string {
  const document = new DOMImplementation().createDocument(XHTML, 'html', null);
  const plot = Plot.plot({
    width: WIDTH,
    height: HEIGHT,
    marginLeft: 64,
    className: 'plot',
    ...options,
    document: document as unknown as Document,
  }) as unknown as Element;
  plot.setAttribute('class', classes);
  plot.setAttribute('role', 'img');
  for (const child of [...childrenOf(plot)]) clean(plot, child);
  return new XMLSerializer().serializeToString(plot);
}

const childrenOf = (element: Element): Element[] =>
  Array.from(element.childNodes).filter((node): node is Element => node.nodeType === ELEMENT);

/** Takes out the library's stylesheet, and descriptions of parts: the plot is one image with one description. */
function clean(parent: Element, element: Element): void {
  if (element.nodeName === 'style') {
    parent.removeChild(element);
    return;
  }
  for (const name of ['aria-label', 'aria-hidden', 'style']) element.removeAttribute(name);
  for (const child of childrenOf(element)) clean(element, child);
}
