/**
 * Observable Plot, and the small DOM that it draws on. The build makes one file of both and of D3, which would be forty
 * packages in a user's project (scripts/build.mjs).
 */
import { createRequire } from 'node:module';
import type * as ObservablePlot from '@observablehq/plot';
import type * as Xmldom from '@xmldom/xmldom';

const require = createRequire(import.meta.url);

export const { Plot, DOMImplementation, XMLSerializer } = require('#third-party/plot.cjs') as {
  readonly Plot: typeof ObservablePlot;
} & Pick<typeof Xmldom, 'DOMImplementation' | 'XMLSerializer'>;
