/** A run's report as one HTML file that needs nothing else: no script, no request, and no other style than its own. */
import { hash } from 'node:crypto';
import type { RunHistory } from '../domain/run/run-history.js';
import { HtmlDocument, renderDocument } from './html-document.js';
import { RunReportPage } from './run-report-page.js';
import { STYLESHEET } from './stylesheet.js';

/** Nothing is allowed but this very stylesheet: a file that somebody has tampered with cannot do more than show text. */
const POLICY = `default-src 'none'; style-src 'sha256-${hash('sha256', STYLESHEET, 'base64')}'; base-uri 'none'; form-action 'none'`;

/** The text of the file. */
export const reportFile = (history: RunHistory): string =>
  renderDocument(
    <HtmlDocument
      title={`Run ${history.run} of ${history.sync}`}
      head={[
        <meta http-equiv="Content-Security-Policy" content={POLICY} />,
        <meta name="generator" content="partner-sync" />,
        <style dangerouslySetInnerHTML={{ __html: STYLESHEET }} />,
      ]}
      bodyClass="report-page"
    >
      <RunReportPage history={history} />
    </HtmlDocument>,
  );
