/** What a page of the console is: where it is, what it looks up, and what it shows. */
import type { ComponentChildren } from 'preact';
import type { ViewParts } from '../composition/parts.js';
import type { SyncHealth } from '../cli/runs/sync-healths.js';
import type { SyncDay } from '../domain/run/run-history.js';
import type { ConsoleSettings } from './console-settings.js';

/** What the overview shows. */
export interface Overview {
  /** The worst first. */
  readonly healths: readonly SyncHealth[];
  /** The last days of each sync, by its name. */
  readonly days: ReadonlyMap<string, readonly SyncDay[]>;
  /** `2026-11-26`, in UTC. */
  readonly today: string;
  /** Names of syncs with an active run. */
  readonly active: ReadonlySet<string>;
}

/** What a request for a page comes with. */
export interface PageRequest {
  readonly parts: ViewParts;
  /** All syncs, as they were a few seconds ago at the earliest: many may look at the overview at once. */
  readonly overview: () => Promise<Overview>;
  readonly settings: ConsoleSettings;
  /** Named parts of the path. */
  readonly params: Readonly<Record<string, string>>;
  /** The query; of a parameter that is repeated, the first. */
  readonly query: Readonly<Record<string, string>>;
}

/** A link of the path from the overview to a page. */
export interface Crumb {
  readonly label: string;
  readonly href: string;
}

/** A page as it is shown. */
export interface PageContent {
  readonly title: string;
  /** The path to it below the overview and the sync. */
  readonly crumbs: readonly Crumb[];
  readonly body: ComponentChildren;
  /** The sync that it is about: its sections are linked. */
  readonly sync?: string;
  /** Seconds after which what is marked `data-live` is fetched again; absent if nothing changes by itself. */
  readonly refresh?: number;
}

export interface Page {
  /** As Fastify takes it: `/syncs/:sync`. */
  readonly path: string;
  /** Throws `PartnerSyncError`, which becomes an error page. */
  readonly load: (request: PageRequest) => Promise<PageContent>;
}
