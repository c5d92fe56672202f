/** The frame of every page: where one is, the sections of a sync, and what the console may do. */
import type { ComponentChildren } from 'preact';
import { HtmlDocument } from '../report/html-document.js';
import type { ConsoleSettings } from './console-settings.js';
import { links } from './links.js';
import type { PageContent } from './page.js';

/** `path`: of the request, by which the section that is shown is marked. `user`: who has logged in, if anybody had to. */
export interface LayoutProps {
  readonly content: PageContent;
  readonly settings: Pick<ConsoleSettings, 'allowActions' | 'showValues' | 'login'>;
  readonly path: string;
  readonly user: string | null;
}

const SECTIONS: readonly (readonly [string, (sync: string) => string])[] = [
  ['Now', links.sync],
  ['Dead letters', (sync) => links.deadLetters(sync)],
  ['Find a record', (sync) => links.record(sync)],
  ['Removals', links.removals],
  ['Schedules', links.schedules],
  ['Tenants', links.tenants],
  ['Reconcile', links.reconcile],
  ['Audit', links.audit],
];

export function Layout({ content, settings, path, user }: LayoutProps) {
  const { title, crumbs, sync, refresh, body } = content;
  return (
    <Document title={title}>
      <header class="bar">
        <nav aria-label="You are here">
          <ol class="crumbs">
            <li>
              <a class="brand" href={links.overview()}>
                {PRODUCT}
              </a>
            </li>
            {[...(sync === undefined ? [] : [{ label: sync, href: links.sync(sync) }]), ...crumbs].map(
              ({ label, href }) => (
                <li key={href}>
                  <a href={href}>{label}</a>
                </li>
              ),
            )}
          </ol>
        </nav>
        <p class="mode">
          {settings.allowActions ? 'actions allowed' : 'read-only'}
          {settings.showValues ? ', values shown' : ''}
        </p>
        {user === null ? null : (
          <form method="post" action="/logout" class="logout">
            <span>{user}</span> <button type="submit">Log out</button>
          </form>
        )}
      </header>
      {sync === undefined ? null : (
        <nav aria-label={`Sections of ${sync}`} class="sections">
          <ul>
            {SECTIONS.map(([label, hrefOf]) => (
              <li key={label}>
                <a href={hrefOf(sync)} aria-current={hrefOf(sync) === path ? 'page' : undefined}>
                  {label}
                </a>
              </li>
            ))}
          </ul>
        </nav>
      )}
      <main id="main" tabIndex={-1} data-refresh={refresh}>
        <h1>{title}</h1>
        {body}
      </main>
    </Document>
  );
}

/** A document with nothing but its content, such as the form to log in. */
export const Document = ({ title, children }: { readonly title: string; readonly children: ComponentChildren }) => (
  <HtmlDocument
    title={title === PRODUCT ? title : `${title} - ${PRODUCT}`}
    head={
      <>
        <link rel="icon" href="/assets/icon.svg" />
        <link rel="stylesheet" href="/assets/report.css" />
        <link rel="stylesheet" href="/assets/console.css" />
        <script src="/assets/live.js" defer></script>
      </>
    }
  >
    <a class="skip" href="#main">
      Skip to the content
    </a>
    {children}
  </HtmlDocument>
);

const PRODUCT = 'partner-sync';
