/** Opens a partner's database by its dialect. */
import type { Source } from '../domain/source.js';
import type { SourceConfig } from '../domain/sync.js';
import { openPostgres } from './postgres/postgres-source.js';

const DIALECTS = { pg: openPostgres } as const satisfies Record<
  SourceConfig['client'],
  (config: SourceConfig) => Source
>;

/** Connects lazily: the first method that needs the database does, and fails with `source_unreachable`. */
export const openSource = (config: SourceConfig): Source => DIALECTS[config.client](config);
