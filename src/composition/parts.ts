/** What a process is made of. */
import type { Env } from '../config/environment.js';
import type { Dependencies, OpenSync, Views } from '../delivery/dependencies.js';
import type { SourceAdministrator } from '../domain/source/feed-installation.js';
import type { SyncSpec } from '../domain/sync/sync.js';
import type { Ledger } from '../ledger/ledger.js';
import type { LedgerView } from '../ledger/ledger-view.js';
import type { LoadedSync } from '../mapping/load-sync.js';
import type { PlatformClient } from '../platform/client.js';

/** The parts that every process has, seen as parts for reading: none can write to the ledger or the platform. */
export interface CommonParts {
  readonly env: Env;
  /** Absolute path of the mappings folder. */
  mappingsFolder(): Promise<string>;
  /** Throws `state_not_ready` if there is no ledger or one of another version, and `state_unreachable`. */
  ledger(): Promise<LedgerView>;
  /** Throws `config_invalid` if the platform's variables are missing or not valid. */
  platform(): Promise<Views['platform']>;
  /** Loads a sync's files, again if they have changed. Throws `config_invalid` with all findings. */
  loadSync(name: string): Promise<LoadedSync>;
  /** Opens a sync by its files as they are now, or by those of a run. Throws `config_invalid` with all findings. */
  openSync(name: string, runId?: string): Promise<OpenSync>;
  close(): Promise<void>;
}

/** The parts of a command that only reads. */
export interface ViewParts extends CommonParts {
  /** null if no state database is configured or it contains no ledger, which means that nothing was sent yet. */
  ledgerIfAny(): Promise<LedgerView | null>;
}

/** The parts of a worker, and of commands that write. */
export interface Parts extends CommonParts {
  ledger(): Promise<Ledger>;
  platform(): Promise<PlatformClient>;
  dependencies(): Promise<Dependencies>;
  /**
   * Opens a connection that may change the database of a sync's source, for what a person has asked for: with the account of
   * SOURCE_ADMIN_URL, or else with that of the sync. The caller closes it. Throws `config_invalid`.
   */
  sourceAdministrator(sync: SyncSpec): Promise<SourceAdministrator>;
}

/** Receives a message for people. */
export type Warn = (message: string) => void;
