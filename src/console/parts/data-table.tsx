/** A table of facts, which scrolls sideways by itself where the screen is narrow. */
import type { ComponentChildren } from 'preact';

export interface Column {
  readonly head: string;
  /** Numbers are aligned at their last digit. */
  readonly number?: true;
}

export interface DataTableProps {
  readonly caption: string;
  readonly columns: readonly (Column | string)[];
  /** A row for each entry, a cell for each column; the first one names the row. */
  readonly rows: readonly (readonly ComponentChildren[])[];
  /** What is said if there are no rows. */
  readonly none: string;
}

export function DataTable({ caption, columns, rows, none }: DataTableProps) {
  if (rows.length === 0) return <p class="none">{none}</p>;
  const [first, ...others] = columns.map((column) => (typeof column === 'string' ? { head: column } : column));
  const alignment = ({ number }: Column): string | undefined => (number ? 'number' : undefined);
  return (
    <div class="scrolls" role="region" aria-label={caption} tabIndex={0}>
      <table>
        <caption>{caption}</caption>
        <thead>
          <tr>
            {[first!, ...others].map((column) => (
              <th key={column.head} scope="col" class={alignment(column)}>
                {column.head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(([head, ...cells], i) => (
            <tr key={i}>
              <th scope="row" class={alignment(first!)}>
                {head}
              </th>
              {cells.map((cell, at) => (
                <td key={at} class={alignment(others[at]!)}>
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
