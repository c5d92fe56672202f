/** What is shown instead of a page that cannot be. */
import { ERROR_CATALOGUE, PartnerSyncError } from '../domain/errors.js';
import { withoutPasswords } from '../domain/values/without-passwords.js';
import type { PageContent } from './page.js';
import { CommandLine } from './parts/command-line.js';

/** The page with its HTTP status: 404 for a name that is not there, 403 for what is not allowed, else 500. */
export function errorPage(error: unknown): { readonly status: number; readonly content: PageContent } {
  if (error instanceof PartnerSyncError) {
    const { code, message } = error;
    return {
      status: code === 'input_invalid' ? 404 : 500,
      content: {
        title: code === 'input_invalid' ? 'Not found' : 'This cannot be shown now',
        crumbs: [],
        body: (
          <div class="notice bad" role="alert">
            <p>
              <code>{code}</code>: {message}
            </p>
            <p>{ERROR_CATALOGUE[code].remedy}</p>
            <CommandLine args={['explain-code', code]} />
          </div>
        ),
      },
    };
  }
  const status = (error as { readonly statusCode?: number }).statusCode ?? 500;
  // An unforeseen error may quote an address.
  const message = withoutPasswords(error instanceof Error ? error.message : String(error));
  return {
    status,
    content: {
      title: status < 500 ? 'Not possible' : 'This went wrong',
      crumbs: [],
      body: (
        <div class="notice bad" role="alert">
          <p>{message}</p>
        </div>
      ),
    },
  };
}
