/** Collects the values of a statement; SQL text only ever holds their numbers. */

export class SqlParameters {
  readonly values: unknown[] = [];

  /** The placeholder of a value, with its type: `$3::text[]`. */
  add(value: unknown, type: string): string {
    this.values.push(value);
    return `$${this.values.length}::${type}`;
  }
}
