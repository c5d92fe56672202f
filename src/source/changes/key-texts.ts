/** Turns values of keys, as triggers write them, into those that pages have. */
import { PartnerSyncError } from '../../domain/errors.js';
import type { PlannedTable } from '../../domain/source/feed-installation.js';
import type { ColumnType, FeedDatabase } from '../dialect.js';
import { recordedSource } from './recorded-source.js';

/** How a dialect writes and reads what {@link KeyTexts} needs of it. */
export interface KeyTextRules {
  /** A query of no rows with the columns of the key. */
  columnsSql(planned: PlannedTable): string;
  /** The text that a page has for a recorded one; null for a type of which pages may have another text than triggers write. */
  textOf(type: ColumnType): ((recorded: string) => string) | null;
}

/** A column of a key that a change table cannot have. */
export interface UnusableColumn {
  readonly column: string;
  readonly databaseType: string;
}

/** For each column of a key, what turns a recorded text into that of a page. */
export type KeyTextFunctions = readonly ((recorded: string) => string)[];

/** Finds the types of key columns, and remembers them. */
export class KeyTexts {
  readonly #database: FeedDatabase;
  readonly #rules: KeyTextRules;
  readonly #known = new Map<string, KeyTextFunctions>();

  constructor(database: FeedDatabase, rules: KeyTextRules) {
    this.#database = database;
    this.#rules = rules;
  }

  /**
   * A function for each column of the key; null if the table, or one of the columns, is gone. Throws `config_invalid` for a
   * type that a change table cannot have.
   */
  async of(planned: PlannedTable): Promise<KeyTextFunctions | null> {
    const source = recordedSource(planned);
    const known = this.#known.get(source);
    if (known !== undefined) return known;
    const types = await this.types(planned);
    if (types === null) return null;
    const texts = types.map((type, i) => {
      const textOf = this.#rules.textOf(type);
      if (textOf !== null) return textOf;
      throw new PartnerSyncError(
        'config_invalid',
        `source: a change table cannot tell rows of ${planned.table.name} by ${planned.key[i]}, which is ${type.databaseType}; write changes: none in its mapping`,
      );
    });
    this.#known.set(source, texts);
    return texts;
  }

  /** The columns of a key whose texts in a page may be others than those in a change table. */
  async unusable(planned: PlannedTable): Promise<UnusableColumn[]> {
    const types = (await this.types(planned)) ?? [];
    return types.flatMap((type, i) =>
      this.#rules.textOf(type) === null ? [{ column: planned.key[i]!, databaseType: type.databaseType }] : [],
    );
  }

  /** The types of the key's columns; null if the table, or one of the columns, is gone. */
  async types(planned: PlannedTable): Promise<readonly ColumnType[] | null> {
    const { session } = this.#database;
    try {
      return await this.#database.attempt(`describing ${planned.table.name}`, async () => {
        const { fields } = await session.run({ sql: this.#rules.columnsSql(planned), bindings: [] });
        const types = await session.typesOf([...new Set(fields.map(({ code }) => code))]);
        return fields.map(({ code }) => types.get(code)!);
      });
    } catch (error) {
      if (error instanceof PartnerSyncError && error.code === 'source_relation_missing') return null;
      throw error;
    }
  }
}
