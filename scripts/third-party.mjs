/**
 * What the build copies of other packages to dist/third-party: the product needs only these files, and a user's project
 * would otherwise get 25 MB. package.json gives the folder the name `#third-party`. The packages are development
 * dependencies, but part of what is delivered.
 */

/** Files, by their names in dist/third-party, with their licences. */
export const COPIED = {
  'libphonenumber-max.cjs': 'libphonenumber-js/bundle/libphonenumber-max.js',
  'libphonenumber.LICENSE': 'libphonenumber-js/LICENSE',
  'swagger-ui.css': 'swagger-ui-dist/swagger-ui.css',
  'swagger-ui-bundle.js': 'swagger-ui-dist/swagger-ui-bundle.js',
  'swagger-ui-favicon.png': 'swagger-ui-dist/favicon-32x32.png',
  'swagger-ui.LICENSE': 'swagger-ui-dist/LICENSE',
  'swagger-ui.NOTICE': 'swagger-ui-dist/NOTICE',
  'swagger-ui-bundle.LICENSE.txt': 'swagger-ui-dist/swagger-ui-bundle.js.LICENSE.txt',
};

/** Packages that become one file each with all that they bring, by the names of the files. */
export const BUNDLED = {
  'plot.cjs': `export * as Plot from '@observablehq/plot'; export { DOMImplementation, XMLSerializer } from '@xmldom/xmldom';`,
  'ohm.cjs': `export { grammar } from 'ohm-js';`,
};

/** The packages of which only files are copied; what they depend on is not needed. */
export const COPIED_PACKAGES = [...new Set(Object.values(COPIED).map((file) => file.split('/')[0]))];
/** Those that are bundled with everything that they depend on. */
export const BUNDLED_PACKAGES = Object.values(BUNDLED).flatMap((code) =>
  [...code.matchAll(/from '([^']+)'/g)].map(([, name]) => name),
);
