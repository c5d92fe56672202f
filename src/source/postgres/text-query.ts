/** Runs a query and keeps its values as the server's text: the driver's parsers lose microseconds, digits and infinities. */
import pg from 'pg';
import type { Rows, SourceRow } from '../../domain/source/source.js';
import { responseWithin } from '../../postgres/response-deadline.js';
import { UndecodedRows } from './undecoded-rows.js';
import { interceptRows } from './row-interceptor.js';

/** The result of one query. */
export interface TextResult {
  readonly rows: Rows;
  readonly fields: pg.QueryResult['fields'];
  /** Whether rows were dropped because of the budget. */
  readonly cut: boolean;
}

export interface TextLimits {
  /**
   * Bytes; rows beyond them are dropped as they arrive, so that a page of unexpectedly wide rows does not fill the
   * memory.
   */
  readonly budget: number;
  /** Milliseconds within which the server must respond. */
  readonly within: number;
}

/** Runs one statement; with a `name` it is prepared, once a session. */
export function askForText(
  client: pg.Client,
  asked: { readonly text: string; readonly values: readonly unknown[]; readonly name?: string },
  { budget, within }: TextLimits,
): Promise<TextResult> {
  return new Promise((resolve, reject) => {
    const arrived = responseWithin(client, within);
    // The extended protocol allows one statement only: a second one, in a mapping's query, could end the read-only
    // transaction of the first.
    const config = { ...asked, values: [...asked.values], queryMode: 'extended' };
    const query = new TextQuery(budget, config, (error, result) => {
      arrived();
      if (error) reject(error);
      else resolve({ rows: query.received, fields: result.fields, cut: query.cut });
    });
    client.query(query);
  });
}

type Callback = (error: Error | undefined, result: pg.QueryResult) => void;

class TextQuery extends pg.Query {
  readonly #messages = new UndecodedRows();
  /** Rows that the driver has read itself. */
  readonly #texts: SourceRow[] = [];
  #left: number;

  constructor(budget: number, config: pg.QueryConfig, callback: Callback) {
    super(config, callback);
    this.#left = budget;
  }

  get received(): Rows {
    return this.#texts.length > 0 ? this.#texts : this.#messages;
  }

  get cut(): boolean {
    return this.#left < 0;
  }

  /** Called by the driver when the query is to be sent; returns an error if it cannot be. */
  override readonly submit = (connection: pg.Connection): void => {
    interceptRows(connection, (buffer, from, end) => {
      if (this.#fits(end - from)) this.#messages.add(buffer, from, end);
    });
    return pg.Query.prototype.submit.call(this, connection);
  };

  /** Called by the driver if rows are not intercepted. */
  handleDataRow({ fields }: { readonly fields: SourceRow }): void {
    if (this.#fits(fields.reduce((sum, value) => sum + (value?.length ?? 0), 0))) this.#texts.push(fields);
  }

  #fits(bytes: number): boolean {
    if (this.#left >= 0) this.#left -= bytes;
    return this.#left >= 0;
  }
}
