/** 4.12: lists the channel integrations of the platform account, oldest first. */
import type { ChannelIntegration } from '../../platform/contract/channels.js';
import { pageOf } from '../cursors.js';
import type { Handler } from './handler.js';

interface Row {
  readonly id: string;
  readonly sequence: string;
  readonly name: string;
  readonly metadata: NonNullable<ChannelIntegration['channel_integration_metadata']>;
  readonly created_at: Date;
}

const LIST = 'channel integrations';

/** Section 4.12. Refuses with `invalid` for a cursor that this list has not issued. */
export const listChannelIntegrations: Handler<'listChannelIntegrations'> = async (
  { query },
  { pool, cursors, settings },
) => {
  // Section 8 shows no maximum. A page may be shorter than requested, but it is never unbounded.
  const limit = Math.min(query.limit ?? 100, settings.longest.page);
  const after = cursors.read<number>(LIST, query.cursor) ?? 0;
  const counted = await pool.query<{ total: string }>('select count(*) as total from sandbox.channel_integrations');
  const { rows } = await pool.query<Row>(
    `select id, sequence, name, metadata, created_at from sandbox.channel_integrations
      where sequence > $1 order by sequence limit $2`,
    [after, limit + 1],
  );
  const {
    rows: shown,
    hasNextPage,
    cursor,
  } = pageOf(rows, limit, (last) => cursors.write(LIST, Number(last.sequence)));
  return {
    message: 'channel integrations',
    data: {
      results: shown.map(({ id, name, metadata, created_at }) => ({
        id,
        name,
        created_at: created_at.toISOString(),
        channel_integration_metadata: metadata,
      })),
      pagination: { hasNextPage, cursor, total: Number(counted.rows[0]!.total) },
    },
  };
};
