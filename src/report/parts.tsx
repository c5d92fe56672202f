/** Parts of report pages: tables, and plots with a legend and the same figures as a table. */
import type { ComponentChildren } from 'preact';
import type { Series } from './plots/series.js';
import { count } from './figures.js';

/** Numbers are aligned to the right, with separators. */
export type Cell = string | number;

interface TableContent {
  readonly caption: string;
  readonly heading: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
}

/** A table that scrolls by itself where the page is too narrow for it. */
export const Table = ({ caption, heading, rows }: TableContent) => (
  <div class="scroll" role="region" aria-label={caption} tabIndex={0}>
    <table>
      <caption>{caption}</caption>
      <thead>
        <tr>
          {heading.map((name, i) => (
            <th scope="col" class={rows.some((row) => typeof row[i] === 'number') ? 'number' : ''}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr>
            {row.map((cell) => (
              <td class={typeof cell === 'number' ? 'number' : ''}>{typeof cell === 'number' ? count(cell) : cell}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);

interface FigureContent {
  readonly title: string;
  /** An SVG of `plots`, which contains no markup from elsewhere. */
  readonly svg: string;
  readonly legend?: readonly Series<string>[];
  readonly table: TableContent;
}

/** A plot; those who do not see it, or want to know exactly, open the table. */
export const Figure = ({ title, svg, legend = [], table }: FigureContent) => (
  <figure>
    <figcaption>{title}</figcaption>
    {legend.length > 0 && (
      <ul class="legend">
        {legend.map(({ name, color }) => (
          <li>
            <svg class="swatch" aria-hidden="true">
              <rect fill={color} />
            </svg>
            {name}
          </li>
        ))}
      </ul>
    )}
    <div dangerouslySetInnerHTML={{ __html: svg }} />
    <details>
      <summary>{title}: the figures</summary>
      <Table {...table} />
    </details>
  </figure>
);

/** A section with a heading. */
export const Section = ({ title, children }: { readonly title: string; readonly children: ComponentChildren }) => (
  <section>
    <h2>{title}</h2>
    {children}
  </section>
);
