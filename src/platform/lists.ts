/** Reads paginated lists page by page. */
import type { Pagination } from './contract/pagination.js';
import type { DataOf, Operation } from './contract/operation.js';
import { operations, type OperationName, type Operations } from './contract/operations.js';
import { platformError } from './error.js';

/** The operations that return a list in pages. */
export type ListName = { [N in OperationName]: Operations[N] extends { pages: object } ? N : never }[OperationName];

/** The type of an entry of a list. */
export type EntryOf<N extends ListName> =
  DataOf<Operations[N]> extends infer D
    ? D extends { results: (infer E)[] } | { recipients: (infer E)[] }
      ? E
      : never
    : never;

/** Fetches one page; `cursor` is undefined for the first. */
export type FetchPage = (place: {
  readonly [place in 'query' | 'body']?: { readonly cursor: string };
}) => Promise<unknown>;

/** The entries of a list; pages are fetched only as far as they are read. Throws what {@link pagesOf} throws. */
export async function* entriesOf<N extends ListName>(name: N, fetchPage: FetchPage): AsyncGenerator<EntryOf<N>, void> {
  const { entries } = (operations[name] as Operation).pages!;
  for await (const page of pagesOf(name, fetchPage)) yield* page[entries] as EntryOf<N>[];
}

/**
 * The pages of a list, each fetched when it is asked for.
 * Throws `platform_response_invalid` if a cursor is missing or repeats.
 */
export async function* pagesOf(name: ListName, fetchPage: FetchPage): AsyncGenerator<Record<string, unknown>, void> {
  const operation: Operation = operations[name];
  const { cursorIn } = operation.pages!;
  const seen = new Set<string>();
  let cursor: string | null | undefined;
  while (true) {
    const page = (await fetchPage(cursor == null ? {} : { [cursorIn]: { cursor } })) as Record<string, unknown>;
    yield page;
    const pagination = page['pagination'] as Pagination;
    if (!pagination.hasNextPage) return;
    cursor = pagination.cursor;
    const wrong = cursor == null ? 'without a cursor' : seen.has(cursor) ? 'by a cursor it gave before' : null;
    if (wrong !== null)
      throw platformError('platform_response_invalid', operation, `reported that there is another page, ${wrong}`);
    seen.add(cursor!);
  }
}
